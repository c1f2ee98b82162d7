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

// Suite is how the tests of a package are run.
type Suite struct {
	Caddy string // the package of the server under test, cmd/caddy if empty
	Self  bool   // the tests' own binary is that server, where its first argument is a command of Caddy
	After func() // is called when all tests have run
}

// Main runs the tests of a package and ends the process. It is all that a
// TestMain has to call.
func Main(m *testing.M) { Suite{}.Main(m) }

// parallel is how many tests of a package run at once, unless -parallel says
// otherwise. It is more than there are processors: most tests wait for a server.
const parallel = 8

// Long reports whether LONG_TESTS is set: then the rounds of tests are long.
func Long() bool { return os.Getenv("LONG_TESTS") != "" }

// Main is the function [Main] for this suite.
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

// Binary returns the path of the server under test. It is built when the first
// test asks for it.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build makes the program of a package, named as seen from a directory, and
// puts it at a path. Programs that run are in Go's cache: of all that ask for
// one that is unchanged, only the first has to link it.
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

// dependOn looks at all that the product is made of. Go keeps the results of
// tests until a file changes that they have looked at, and these only run the
// product.
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
