package harness

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

const module = "github.com/robotsguard/caddy-robots-guard"

// Suite configures the tests of a package.
type Suite struct {
	Caddy string // package of the server under test; empty for cmd/caddy
	Self  bool   // the test binary itself is the server, if its first argument is a Caddy command
	After func() // called after all tests
}

// Main runs the tests of a package and exits. A TestMain only has to call Main.
func Main(m *testing.M) { Suite{}.Main(m) }

// parallel is the default of -test.parallel. It exceeds the number of CPUs, because
// most tests wait for a server.
const parallel = 8

// Long reports whether LONG_TESTS is set. Tests then run more rounds.
func Long() bool { return os.Getenv("LONG_TESTS") != "" }

// Main is like the function [Main], for this suite.
func (s Suite) Main(m *testing.M) {
	given := flag.String("caddy", "", "test this server instead of building one")
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "robots-guard")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if s.After != nil {
			defer s.After()
		}
		binary = sync.OnceValues(func() (string, error) {
			if *given != "" {
				return *given, nil
			}
			if s.Self {
				return os.Executable()
			}
			root, err := Root()
			if err != nil {
				return "", err
			}
			if err := dependOn(root); err != nil {
				return "", err
			}
			path := filepath.Join(dir, "caddy")
			if s.Caddy != "" {
				return path, Build(".", s.Caddy, path)
			}
			return path, Build(root, "./cmd/caddy", path)
		})
		return m.Run()
	}())
}

var binary = func() (string, error) { return "", errors.New("the TestMain of this package has to call harness.Main") }

// Binary returns the path of the server under test. The first call builds the server.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build builds the program of package pkg, relative to dir, and writes it to path. It
// uses go run, because Go caches the linked programs that go run executes. An unchanged
// program is therefore linked only once.
func Build(dir, pkg, path string) error {
	build := exec.Command("go", "run", "-exec", "cp", pkg, path)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// Root returns the directory of the repository.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if text, _ := os.ReadFile(filepath.Join(dir, "go.mod")); bytes.HasPrefix(text, []byte("module "+module+"\n")) {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("this is not run in the repository")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// dependOn stats all files that the product is built from. Go caches a test result
// until a file that the test opened changes, and these tests only run the product.
func dependOn(root string) error {
	list := exec.Command("go", "list", "-deps", "-f",
		`{{with .Module}}{{if .Main}}{{$.Dir}}{{range $.EmbedFiles}}{{"\n"}}{{$.Dir}}/{{.}}{{end}}{{end}}{{end}}`, "./cmd/caddy")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the product's packages: %w", err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			return err
		}
	}
	for name := range bytes.FieldsFuncSeq(out, func(r rune) bool { return r == '\n' }) {
		if info, err := os.Stat(string(name)); err != nil {
			return err
		} else if info.IsDir() {
			if _, err := os.ReadDir(string(name)); err != nil {
				return err
			}
		}
	}
	return nil
}
