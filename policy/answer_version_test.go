package policy

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"
)

// TestVersionOfResponse checks which responses have a version, with which hash.
func TestVersionOfResponse(t *testing.T) {
	const text = "User-agent: *\nDisallow: /x\n"
	for _, tc := range []struct {
		name   string
		answer FetchResult
		rules  string // the expected text
		settle bool
	}{
		{"a file", FetchResult{Status: 200, Body: []byte(text)}, text, true},
		{"no file, whatever the answer says", FetchResult{Status: 404, Body: []byte(text)}, "", true},
		{"a copy that the caller has", FetchResult{Status: 304}, "", false},
		{"too many requests", FetchResult{Status: 429}, "", false},
		{"a failure", FetchResult{Status: 503, Body: []byte(text)}, "", false},
		{"a file that ended early", FetchResult{Status: 200, Body: []byte(text), Err: errors.New("reset")}, "", false},
	} {
		version := NewVersion(tc.answer, epoch)
		if (version != nil) != tc.settle {
			t.Errorf("%s: version %v", tc.name, version)
		}
		if want := sha256.Sum256([]byte(tc.rules)); version != nil && version.Hash != want {
			t.Errorf("%s: hash %x, want %x", tc.name, version.Hash, want)
		}
	}
}

// TestAddsVersions distinguishes new data of another instance from known data.
func TestAddsVersions(t *testing.T) {
	until := func(n int, at time.Duration) *Version {
		return &Version{Hash: [sha256.Size]byte{byte(n)}, ReplacedAt: epoch.Add(at)}
	}
	versions := []*Version{until(2, 2*time.Hour), until(1, time.Hour)}
	for _, tc := range []struct {
		name string
		past []*Version
		want bool
	}{
		{"the same", []*Version{until(2, 2*time.Hour), until(1, time.Hour)}, false},
		{"by a clock that is late", []*Version{until(2, 2*time.Hour+clockSkew), until(1, time.Hour)}, false},
		{"one was current for longer", []*Version{until(2, 2*time.Hour+clockSkew+1), until(1, time.Hour)}, true},
		{"one was current for less", []*Version{until(2, time.Hour), until(1, time.Hour)}, false},
		{"another text", []*Version{until(3, 2*time.Hour), until(1, time.Hour)}, true},
		{"one more", []*Version{until(3, 3*time.Hour), until(2, 2*time.Hour), until(1, time.Hour)}, true},
		{"one less", []*Version{until(2, 2*time.Hour)}, true},
	} {
		if got := hasNewVersions(tc.past, versions); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.name, got, tc.want)
		}
	}
}
