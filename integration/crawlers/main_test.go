package crawlers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	given  = flag.String("caddy", "", "test this server instead of building one")
	update = flag.Bool("update", false, "write the tables of docs/crawlers.md anew")
	dump   = flag.String("dump", "", "write all requests and what became of them to this file")
)

// patience is how long is waited for what has to come. It costs time only where
// something is broken.
const patience = 3 * time.Minute

// binary is the server under test, built once.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if binary = *given; binary != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "robots-guard-crawlers")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "caddy")
		build := exec.Command("go", "build", "-o", binary, "./cmd/caddy")
		build.Dir, build.Stderr = "../..", os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "building the server:", err)
			return 1
		}
		return m.Run()
	}())
}

// need returns the path of a program. Without it the test is skipped, but not in
// the gate.
func need(t *testing.T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, program, "the Debian package "+debian)
	}
	return path
}

// missing ends a test for want of something.
func missing(t *testing.T, what, of string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("there is no %s, and this is the gate: .ci/run installs it", what)
	}
	t.Skipf("needs %s, of %s", what, of)
}
