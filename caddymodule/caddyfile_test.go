package caddymodule

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestAdapt adapts Caddyfiles to JSON. Each file in testdata/adapt has a Caddyfile, a line of
// dashes, and the expected JSON or error.
func TestAdapt(t *testing.T) {
	files, err := filepath.Glob("testdata/adapt/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	const separator = "\n----------\n"
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			caddyfile, want, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), separator)
			got := adapt(t, caddyfile+"\n")
			if isError := !strings.HasPrefix(got, "{"); isError != strings.HasPrefix(filepath.Base(file), "error_") {
				t.Errorf("exactly the files with an error must be named error_*; got:\n%s", got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(caddyfile+separator+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want = strings.TrimSpace(want); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// adapt returns the JSON of the site's handlers, or the error.
func adapt(t *testing.T, caddyfile string) string {
	t.Helper()
	result, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err.Error()
	}
	for _, w := range warnings {
		t.Logf("warning: %s", w)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, result, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return indented.String()
}
