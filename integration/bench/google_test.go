package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestTheDriverIsAskedAndTimed compiles the driver against a substitute for Google's
// library and checks its answers and times.
func TestTheDriverIsAskedAndTimed(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("g++ is not installed; only the comparison with Google's C++ library needs it")
	}
	g, err := startGoogle(filepath.Join("testdata", "robotstxt"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.stop()
	const text = "User-agent: Yahoo! Slurp\nDisallow: /a b\nDisallow: /c\n"
	for _, test := range []struct {
		token, target string
		allowed       bool
	}{
		{"Yahoo! Slurp", "/a b", false},
		{"Yahoo! Slurp", "/c", false},
		{"Yahoo! Slurp", "/d", true},
		{"Googlebot", "/c", true},
	} {
		if got := g.allowed(text, test.token, test.target); got != test.allowed {
			t.Errorf("%s, %s: %v", test.token, test.target, got)
		}
	}
	for name, cell := range map[string]cell{
		"scan":    g.scanCell(text),
		"verdict": g.verdictCell(text, []string{"/a b", "/", "/c"}),
	} {
		if ns := cell.timed(time.Millisecond); ns <= 0 || ns > 1e8 {
			t.Errorf("%s: %v ns", name, ns)
		}
	}
	if words := g.command("scan 1000"); len(words) != 2 || words[1] == "0" {
		t.Errorf("scan returns %q", words)
	}
	_ = g.process.Process.Kill()
	if ns := g.scanCell(text).timed(time.Millisecond); ns != 0 || g.failed == nil {
		t.Errorf("after the program has exited: %v ns, error %v", ns, g.failed)
	}
}

func TestAnythingElseIsNoCheckout(t *testing.T) {
	directory := t.TempDir()
	if g, err := startGoogle(directory); err == nil {
		g.stop()
		t.Error("no error for an empty directory")
	}
	if err := os.WriteFile(filepath.Join(directory, "robots.cc"), []byte("#error no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if g, err := startGoogle(directory); err == nil {
		g.stop()
		t.Error("no error for a file with a syntax error")
	}
}
