package remote_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// TestFileChangedTwice changes a file twice within what its file system takes for one time,
// to as many bytes: it is read again, and once it is older no more.
func TestFileChangedTwice(t *testing.T) {
	written := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now, path := written.Add(100*time.Millisecond), filepath.Join(t.TempDir(), "list.json")
	file, err := remote.SourceSettings{OptionName: "rules", MaxBytes: 100}.NewSource(path, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	var last remote.FetchResult
	read := func() string {
		t.Helper()
		if last, err = file.Read(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		return string(last.Data)
	}
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	now = now.Add(remote.FileCheckInterval)
	read()
	if read(); !last.IsUnchanged {
		t.Error("it is read again although it is old")
	}
}
