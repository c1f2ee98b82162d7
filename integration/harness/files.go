package harness

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Files creates a temporary directory with the given files.
func Files(t testing.TB, contents map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		Write(t, path, text)
	}
	return dir
}

// Write writes text to a file.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Rewrite replaces the part of a file between the lines begin and end. Both arguments
// include their line feeds.
func Rewrite(path, begin, end, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s lacks the lines %sand %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}

// Stored returns the files of one kind of values (such as policies or changes) in a
// storage.
func Stored(t testing.TB, store, kind string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == kind && strings.HasSuffix(path, ".json") {
			files = append(files, path)
		}
		return nil // files appear and disappear while the server writes
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Program returns the path of a program that a test needs. If the program is missing,
// Program skips the test, or fails the test if the environment variable gate is set. CI
// sets the variable and installs the Debian package.
func Program(t testing.TB, name, debian, gate string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil { // not in the PATH of users
			Missing(t, name+" of the Debian package "+debian, gate)
		}
	}
	return path
}

// Missing skips or fails a test that lacks a requirement, as Program does.
func Missing(t testing.TB, what, gate string) {
	t.Helper()
	if os.Getenv(gate) != "" {
		t.Fatalf("%s is missing, but %s is set, so .ci/run should have installed it", what, gate)
	}
	t.Skipf("needs %s", what)
}

// StorageOn are the global options of a server that stores its data in the folder
// $STORE.
const StorageOn = `storage file_system $STORE
	robots_guard {
		storage on
	}`
