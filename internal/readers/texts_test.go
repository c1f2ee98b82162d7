package readers

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestServedTextsAreBounded confirms more texts than there is room for.
func TestServedTextsAreBounded(t *testing.T) {
	var s Texts
	long := strings.Repeat("Disallow: /x\n", 30_000)
	for i := range 200 {
		of := policy.Key{Site: fmt.Sprintf("%d.test", i/4), Host: fmt.Sprintf("%d.test", i/4)}
		s.Confirm(of, Client{Operator: "Microsoft"}, netip.Prefix{}, policy.Answer{Status: http.StatusOK, Body: fmt.Appendf(nil, "User-agent: *\n# %d\n%s", i, long)}, time.Now())
		if s.bytes > maxServedBytes {
			t.Fatalf("after %d texts: %d bytes, want at most %d", i, s.bytes, maxServedBytes)
		}
	}
	if len(s.sites[policy.Named]) == 0 || s.bytes == 0 {
		t.Error("nothing is remembered")
	}
	for s.forget(s.sites[policy.Named], 7) {
	}
	if s.bytes != 0 {
		t.Errorf("without a site there are %d bytes", s.bytes)
	}
}

// TestSitesAreBounded asks about more sites than are remembered, and then about the first.
func TestSitesAreBounded(t *testing.T) {
	named := func(i int) policy.Key {
		return policy.Key{Site: fmt.Sprintf("%d.test", i), Host: fmt.Sprintf("%d.test", i)}
	}
	invented := func(i int) policy.Key { return policy.Key{Site: "*.test", Host: fmt.Sprintf("%d.test", i)} }
	for _, tc := range []struct {
		name string
		key  func(i int) policy.Key
		most int
	}{{"named", named, maxServedNamed}, {"invented", invented, maxServedInvented}} {
		var s Texts
		bing := Client{Operator: "Microsoft"}
		for i := range tc.most {
			s.Confirm(tc.key(i), bing, netip.Prefix{}, answer("a"), noon)
		}
		all := s.bytes
		for i := range tc.most {
			if s.Site(tc.key(i)).Text(bing, hashOf(t, "a"), noon) == nil {
				t.Fatalf("%s: site %d of %d is forgotten", tc.name, i, tc.most)
			}
		}
		first := s.Site(tc.key(0)) // so that those after it are the ones that were asked about least lately
		s.Site(tc.key(tc.most))
		if s.Site(tc.key(0)) != first || s.bytes != all-all/16 {
			t.Errorf("%s: with one more there are %d bytes, want %d", tc.name, s.bytes, all-all/16)
		}
		if s.Site(tc.key(1)).Text(bing, hashOf(t, "a"), noon) != nil {
			t.Errorf("%s: all of %d are remembered", tc.name, tc.most+1)
		}
	}
}

// TestBytesAreBounded confirms a text where there is room for just that, and where there is
// none: hosts that nobody has named make room first.
func TestBytesAreBounded(t *testing.T) {
	var one Texts
	named, invented := policy.Key{Site: "a.test", Host: "a.test"}, policy.Key{Site: "*.test", Host: "b.test"}
	one.Confirm(named, Client{}, here, answer("a"), noon)
	size := one.bytes
	if size == 0 {
		t.Fatal("a text takes no room")
	}
	for _, tc := range []struct {
		name    string
		keys    []policy.Key // of the sites that serve the text, one after the other
		others  int          // bytes that others have
		remains []bool       // what is remembered in the end
	}{
		{"room for it", []policy.Key{named}, maxServedBytes - size, []bool{true}},
		{"no room", []policy.Key{named}, maxServedBytes - size + 1, []bool{false}},
		{"room for it at an invented host", []policy.Key{invented}, maxServedBytes - size, []bool{true}},
		{"room for two", []policy.Key{invented, named}, maxServedBytes - 2*size, []bool{true, true}},
		{"room for one", []policy.Key{invented, named}, maxServedBytes - size, []bool{false, true}},
		{"room for one, the named first", []policy.Key{named, invented}, maxServedBytes - size, []bool{true, false}},
		{"room for none", []policy.Key{named, invented}, maxServedBytes, []bool{false, false}},
	} {
		s := Texts{bytes: tc.others}
		for _, key := range tc.keys {
			s.Confirm(key, Client{}, here, answer("a"), noon)
		}
		for i, key := range tc.keys {
			if got := s.Site(key).Text(Client{}, hashOf(t, "a"), noon) != nil; got != tc.remains[i] {
				t.Errorf("%s: what %s serves is remembered: %v, want %v", tc.name, key.Host, got, tc.remains[i])
			}
		}
	}
}

// TestConfirmNothing confirms answers that hold no text, and one for a site that is being
// forgotten.
func TestConfirmNothing(t *testing.T) {
	var s Texts
	for _, a := range []policy.Answer{{Status: http.StatusInternalServerError}, {Status: http.StatusTooManyRequests}, {Err: http.ErrHandlerTimeout}} {
		s.Confirm(key, Client{}, here, a, noon)
		if site := s.Site(key); len(site.texts) != 0 || s.bytes != 0 {
			t.Errorf("%+v is a text", a)
		}
	}
	site := s.Site(key)
	s.forget(s.sites[policy.Named], 1)
	if grown := site.add(Client{}, here, policy.VersionOf(answer("a"), noon), noon); grown != 0 || len(site.texts) != 0 {
		t.Errorf("what is not remembered any more has grown by %d bytes", grown)
	}
}

// TestConfirmedAtOnce keeps a text once that two crawlers are found to be served at the same
// time.
func TestConfirmedAtOnce(t *testing.T) {
	var s Texts
	of := policy.Key{Site: "a.test", Host: "a.test"}
	bing, google := Client{Operator: "Microsoft"}, Client{Operator: "Google"}
	first := true
	s.Derive = func(*policy.Robots) any { // while the text of one is looked at
		if first {
			first = false
			s.Confirm(of, google, netip.Prefix{}, answer("a"), noon)
		}
		return nil
	}
	s.Confirm(of, bing, netip.Prefix{}, answer("a"), noon)
	site := s.Site(of)
	if size := site.texts[0].version.Robots.Size(); len(site.texts) != 1 || s.bytes != size {
		t.Errorf("%d texts with %d bytes, want one with %d", len(site.texts), s.bytes, size)
	}
	for _, client := range []Client{bing, google} {
		if site.Text(client, hashOf(t, "a"), noon) == nil {
			t.Errorf("%s is served nothing", client.Operator)
		}
	}
}

// TestKnownMakesNothing: there may be very many sites, and of most nothing is remembered.
func TestKnownMakesNothing(t *testing.T) {
	var all Texts
	key := policy.Key{Site: "a.test", Host: "a.test"}
	for range 2 {
		if all.Known(key) != nil {
			t.Error("something is known of a site that nobody asked about")
		}
	}
	if made := all.Site(key); all.Known(key) != made {
		t.Error("what is remembered of a site is not found")
	}
}
