package text

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNearestFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"robots.txt", "other"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("site/registry.jsn", 0o700); err != nil {
		t.Fatal(err)
	}
	full, err := filepath.Abs("robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"robot.txt": "robots.txt", "./robots.tx": "./robots.txt", filepath.Join(filepath.Dir(full), "Robots.text"): full,
		"registry.json": "", "site/registry.json": "", "nowhere/robots.txt": "", "": "",
	} {
		if got := NearestFile(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}
