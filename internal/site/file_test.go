package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestFileSource(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"robots.txt": "User-agent: *\n",
		"empty.txt":  "",
		"long.txt":   strings.Repeat("# long\n", policy.MaxSize),
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link.txt": "robots.txt", "dangling.txt": "missing.txt", "circle.txt": "circle.txt"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	for _, tc := range []struct {
		file    string
		meaning policy.AccessResult
		size    int
	}{
		{"robots.txt", policy.Successful, 14},
		{"empty.txt", policy.Successful, 0},
		{"long.txt", policy.Successful, policy.MaxSize + 1},
		{"link.txt", policy.Successful, 14},
		{"missing.txt", policy.Unavailable, 0},
		{"missing/robots.txt", policy.Unavailable, 0},
		{"dangling.txt", policy.Unavailable, 0},
		{"circle.txt", policy.Unreachable, 0},
		{".", policy.Unreachable, 0},
		{"robots.txt/x", policy.Unreachable, 0},
	} {
		t.Run(tc.file, func(t *testing.T) {
			fetch, ok := FileSource{Path: at(tc.file)}.Prepare(nil, policy.Key{})
			if !ok {
				t.Fatal("not ok")
			}
			answer := fetch(t.Context(), nil)
			if answer.AccessResult() != tc.meaning || len(answer.Body) != tc.size {
				t.Errorf("got %v, %d bytes, error %v", answer.AccessResult(), len(answer.Body), answer.Err)
			}
		})
	}

	if err := os.Chmod(at("robots.txt"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(at("robots.txt")); err == nil {
		f.Close() // root can read every file
	} else if answer := (FileSource{Path: at("robots.txt")}).fetch(); answer.AccessResult() != policy.Unreachable {
		t.Errorf("a file that may not be read means %v", answer.AccessResult())
	}
}

// TestFileSourceDevice checks that pipes and devices return an error before they can block.
func TestFileSourceDevice(t *testing.T) {
	for _, path := range []string{"/dev/zero", "/dev/tty", os.DevNull} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		done := make(chan policy.FetchResult, 1)
		go func() { done <- FileSource{Path: path}.fetch() }()
		select {
		case answer := <-done:
			if answer.Err == nil || !strings.Contains(answer.Err.Error(), "regular file") {
				t.Errorf("%s: got %v", path, answer.Err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s blocks", path)
		}
	}
}

// TestCheckFile checks that loading a configuration finds an unreadable file.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("robots.txt", []byte("User-agent: *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path      string
		otherwise string   // empty if the file may be missing
		want      []string // parts of the error; none for no error
	}{
		{path: "robots.txt", otherwise: "write none"},
		{path: filepath.Join(dir, "robots.txt"), otherwise: "write none"},
		{path: "robot.txt"},
		{path: "robot.txt", otherwise: "write none", want: []string{"source file robot.txt: file not found; a relative path", filepath.Join(dir, "robot.txt"), "; did you mean robots.txt? Correct the path, or write none"}},
		{path: filepath.Join(dir, "robot.txt"), otherwise: "write none", want: []string{"file not found; did you mean " + filepath.Join(dir, "robots.txt") + "?"}},
		{path: filepath.Join(dir, "elsewhere"), otherwise: "write none", want: []string{"file not found; correct the path, or write none"}},
		{path: ".", want: []string{"regular file", "so this is " + dir}},
	} {
		err := CheckFile("source", tc.path, tc.otherwise)
		if (err == nil) != (tc.want == nil) {
			t.Errorf("%s, otherwise %q: got %v", tc.path, tc.otherwise, err)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s, otherwise %q: got %v, want %q", tc.path, tc.otherwise, err, want)
			}
		}
	}
}
