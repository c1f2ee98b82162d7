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
	text := func(via ...string) Answer { return Answer{Status: http.StatusOK, Body: []byte("x"), Via: via} }
	failed := Answer{Status: http.StatusBadGateway}
	long := strings.Repeat("x", maxVia)
	for _, tc := range []struct {
		name    string
		answers []Answer
		want    []string
	}{
		{"none", []Answer{text()}, nil},
		{"two", []Answer{text("/a", "http://b/")}, []string{"/a", "http://b/"}},
		{"no more", []Answer{text("/a"), text()}, nil},
		{"it fails where it was led to", []Answer{text("/a"), {Status: 503, Via: []string{"/b"}}}, []string{"/b"}},
		{"it fails before", []Answer{text("/a"), failed}, []string{"/a"}},
		{"as many as are followed", []Answer{text("/1", "/2", "/3", "/4", "/5", "/6")}, []string{"/1", "/2", "/3", "/4", "/5"}},
		{"what cannot be kept", []Answer{text(long, "/"+long, "/a\xff", "")}, []string{long}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s State
			for i, a := range tc.answers {
				s = s.After(a, epoch.Add(time.Duration(i)*time.Minute), tenMinutes, 0)
			}
			if !slices.Equal(s.Via, tc.want) {
				t.Fatalf("via %q, want %q", s.Via, tc.want)
			}
			data, err := Snapshot{Key: Key{Host: "a.test"}, State: s, Saved: epoch}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if stored, err := DecodeSnapshot(data); err != nil || !slices.Equal(stored.State.Via, tc.want) {
				t.Errorf("stored: via %q (%v), want %q", stored.State.Via, err, tc.want)
			}
			if adopted := (State{}).Adopt(s, epoch.Add(time.Hour)); !slices.Equal(adopted.Via, tc.want) {
				t.Errorf("adopted: via %q, want %q", adopted.Via, tc.want)
			}
		})
	}
}

// TestARedirectThatLeadsNowhereIsServed distinguishes a redirect without a target from a refusal of
// the guard.
func TestARedirectThatLeadsNowhereIsServed(t *testing.T) {
	for status, want := range map[int]bool{302: true, 399: true, 400: false, 403: false, 404: true, 410: true} {
		s := stateAfter(step{0, Answer{Status: status}}, step{time.Hour, Answer{Status: 403}})
		if s.Good.Served != want {
			t.Errorf("after %d: served %t, want %t", status, s.Good.Served, want)
		}
	}
}
