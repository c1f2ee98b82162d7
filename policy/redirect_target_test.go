package policy

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestVia stores the redirect targets of a file, also across failures and in a storage.
func TestVia(t *testing.T) {
	text := func(via ...string) FetchResult {
		return FetchResult{Status: http.StatusOK, Body: []byte("x"), RedirectTargets: via}
	}
	failed := FetchResult{Status: http.StatusBadGateway}
	long := strings.Repeat("x", maxRedirectLength)
	for _, tc := range []struct {
		name    string
		answers []FetchResult
		want    []string
	}{
		{"none", []FetchResult{text()}, nil},
		{"two", []FetchResult{text("/a", "http://b/")}, []string{"/a", "http://b/"}},
		{"no more", []FetchResult{text("/a"), text()}, nil},
		{"it fails where it was led to", []FetchResult{text("/a"), {Status: 503, RedirectTargets: []string{"/b"}}}, []string{"/b"}},
		{"it fails before", []FetchResult{text("/a"), failed}, []string{"/a"}},
		{"as many as are followed", []FetchResult{text("/1", "/2", "/3", "/4", "/5", "/6")}, []string{"/1", "/2", "/3", "/4", "/5"}},
		{"what cannot be kept", []FetchResult{text(long, "/"+long, "/a\xff", "")}, []string{long}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s State
			for i, a := range tc.answers {
				s = s.AfterFetch(a, epoch.Add(time.Duration(i)*time.Minute), tenMinutes, 0)
			}
			if !slices.Equal(s.RedirectTargets, tc.want) {
				t.Fatalf("via %q, want %q", s.RedirectTargets, tc.want)
			}
			data, err := Snapshot{Key: Key{Host: "a.test"}, State: s, Saved: epoch}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if stored, err := DecodeSnapshot(data); err != nil || !slices.Equal(stored.State.RedirectTargets, tc.want) {
				t.Errorf("stored: via %q (%v), want %q", stored.State.RedirectTargets, err, tc.want)
			}
			if adopted := (State{}).Merge(s, epoch.Add(time.Hour)); !slices.Equal(adopted.RedirectTargets, tc.want) {
				t.Errorf("adopted: via %q, want %q", adopted.RedirectTargets, tc.want)
			}
		})
	}
}

// TestRedirectWithoutTargetIsServed distinguishes a redirect without a target from a refusal of
// the guard.
func TestRedirectWithoutTargetIsServed(t *testing.T) {
	for status, want := range map[int]bool{302: true, 399: true, 400: false, 403: false, 404: true, 410: true} {
		s := stateAfter(step{0, FetchResult{Status: status}}, step{time.Hour, FetchResult{Status: 403}})
		if s.Current.WasServed != want {
			t.Errorf("after %d: served %t, want %t", status, s.Current.WasServed, want)
		}
	}
}
