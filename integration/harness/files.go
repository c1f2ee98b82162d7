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

// Files makes a directory with these files.
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

// Write writes a file.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Rewrite replaces the text of a file between two lines, which include their line feeds.
func Rewrite(path, begin, end, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s needs the lines %sand %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}

// Stored returns the files of a kind of values (policies, readers, changes) in
// a storage.
func Stored(t testing.TB, store, kind string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == kind && strings.HasSuffix(path, ".json") {
			files = append(files, path)
		}
		return nil // files come and go while they are written
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Program returns the path of a program that a test needs. Without it the test
// is skipped, but fails where the environment variable is set: in the gate, which
// installs the Debian package.
func Program(t testing.TB, name, debian, gate string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil { // which is in no user's PATH
			Missing(t, name+", of the Debian package "+debian, gate)
		}
	}
	return path
}

// Missing ends a test for want of something, as Program does.
func Missing(t testing.TB, what, gate string) {
	t.Helper()
	if os.Getenv(gate) != "" {
		t.Fatalf("there is no %s, and %s says that there should be: .ci/run installs it", what, gate)
	}
	t.Skipf("needs %s", what)
}

// StorageOn are the global options of a server that keeps what it knows in the
// folder $STORE.
const StorageOn = `storage file_system $STORE
	robots_guard {
		storage on
	}`
