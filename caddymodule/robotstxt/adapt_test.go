package robotstxt

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestAdapt compares Caddyfiles with the adapted JSON, or with the error.
func TestAdapt(t *testing.T) {
	files, err := filepath.Glob("testdata/adapt/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	const separator = "\n----------\n"
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".caddyfiletest")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			caddyfile, want, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), separator)
			result, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile+"\n"), map[string]any{"filename": "Caddyfile"})
			got := string(result)
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != strings.HasPrefix(name, "error_") {
				t.Errorf("got %s", got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(caddyfile+separator+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != strings.TrimSpace(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
