package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestVersionTime(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"robots-2026-11-20T10:00:00Z.txt", "2026-11-20T10:00:00Z"},
		{"robots-2026-11-20T10-00-00Z.txt", "2026-11-20T10:00:00Z"},
		{"robots-2026-11-20T10:00:00.txt", "2026-11-20T10:00:00Z"},
		{"robots-2026-11-20T10:00:00+02:00.txt", "2026-11-20T08:00:00Z"},
		{"robots-20261120T100000Z.txt", "2026-11-20T10:00:00Z"},
		{"20261120100000.txt", "2026-11-20T10:00:00Z"},
		{"robots.2026-11-20.txt", "2026-11-20T00:00:00Z"},
		{"robots-2026-11-20T10:00Z.txt", "2026-11-20T10:00:00Z"},
		{"robots.txt", ""},
		{"robots-v2.txt", ""},
		{"robots-2026-13-40.txt", ""},
		{"robots-2200-12-31.txt", "2200-12-31T00:00:00Z"},
		{"robots-9999-12-31.txt", ""}, // nanoseconds cannot represent this year
		{"robots-00010101.txt", ""},
	} {
		at, ok := parseVersionTime(tc.name)
		if got := at.UTC().Format(time.RFC3339); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: %s (%t), want %s", tc.name, got, ok, tc.want)
		}
	}
}

func TestReadVersions(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadVersions(dir); err == nil || !strings.Contains(err.Error(), "contains no robots.txt; name the versions like") {
		t.Error(err)
	}
	changed := writeFile(t, dir, "robots.txt", "c")
	if err := os.Chtimes(changed, time.Unix(3000000000, 0), time.Unix(3000000000, 0)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "robots-2026-11-21.txt", "a")
	writeFile(t, dir, "robots-2026-11-22.TXT", "a")
	writeFile(t, dir, "robots-2026-11-20.txt", "b")
	writeFile(t, dir, ".hidden.txt", "x")
	writeFile(t, dir, "notes.md", "x")
	writeFile(t, dir, "ads.txt", "x")
	writeFile(t, dir, "robots-v2.txt", "x")
	if err := os.Mkdir(filepath.Join(dir, "sub.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := ReadVersions(dir)
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %+v", err, all)
	}
	versions, err := parseVersions(&Options{Versions: all}, uaident.Default())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range versions {
		got = append(got, fmt.Sprintf("%s %s %d", filepath.Base(v.name), fromUnixNano(v.from).Format(time.DateOnly), len(v.state.Previous)))
	}
	if s := strings.Join(got, ", "); s != "robots-2026-11-20.txt 2026-11-20 0, robots-2026-11-21.txt 2026-11-21 1, robots.txt 2065-01-24 2" {
		t.Error(s)
	}
	for day, want := range map[string]int{"2020-01-01": 0, "2026-11-20": 0, "2026-11-21": 1, "2026-11-23": 1, "2065-02-01": 2} {
		when, _ := time.Parse(time.DateOnly, day)
		if got := findVersion(versions, when.UnixNano()); got != want {
			t.Errorf("%s: version %d, want %d", day, got, want)
		}
	}
	if _, err := parseVersions(new(Options), uaident.Default()); err == nil {
		t.Error("no versions: no error")
	}
}
