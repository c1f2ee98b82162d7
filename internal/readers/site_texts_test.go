package readers

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// answer is what a site serves, another text for each name.
func answer(name string) policy.Answer {
	return policy.Answer{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /" + name + "\n")}
}

// hashOf is the hash of that.
func hashOf(t *testing.T, name string) [sha256.Size]byte {
	t.Helper()
	hash, ok := policy.HashOf(answer(name))
	if !ok {
		t.Fatal("it is no text")
	}
	return hash
}

var key = policy.Key{Site: "a.test", Host: "a.test"}

// TestConfirmed asks what clients were served.
func TestConfirmed(t *testing.T) {
	bing, google := Client{Operator: "Microsoft"}, Client{Operator: "Google"}
	type served struct {
		client Client
		text   string
		at     time.Duration
	}
	for _, tc := range []struct {
		name   string
		served []served
		text   string        // asked is for this, and bing
		at     time.Duration // then
		known  bool
		last   bool // it was served that last
		when   time.Duration
	}{
		{"nothing", nil, "a", 0, false, false, 0},
		{"it", []served{{bing, "a", 0}}, "a", policy.MaxAge - 1, true, true, 0},
		{"a day ago", []served{{bing, "a", 0}}, "a", policy.MaxAge, false, false, 0},
		{"another", []served{{google, "a", 0}}, "a", 0, false, false, 0},
		{"another text", []served{{bing, "b", 0}}, "a", 0, false, false, 0},
		{"again", []served{{bing, "a", 0}, {bing, "a", time.Hour}}, "a", policy.MaxAge, true, true, time.Hour},
		{"again, behind another text", []served{{bing, "a", 0}, {google, "b", 0}, {bing, "a", time.Hour}}, "a", policy.MaxAge, true, true, time.Hour},
		{"another text since", []served{{bing, "a", 0}, {bing, "b", time.Hour}}, "a", time.Hour, true, false, 0},
		{"another text before", []served{{bing, "b", 0}, {bing, "a", time.Hour}}, "a", time.Hour, true, true, time.Hour},
		{"another text at the same time", []served{{bing, "b", 0}, {bing, "a", 0}}, "a", time.Hour, true, true, 0},
		{"two others since, of which the first was later", []served{{bing, "a", 2}, {bing, "b", 3}, {bing, "c", 1}}, "a", time.Hour, true, false, 2},
		{"two others before", []served{{bing, "b", 1}, {bing, "c", 2}, {bing, "a", 3}}, "a", time.Hour, true, true, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var all Texts
			for _, s := range tc.served {
				all.Confirm(key, s.client, here, answer(s.text), noon.Add(s.at))
			}
			s := all.Site(key)
			hash, now := hashOf(t, tc.text), noon.Add(tc.at)
			if version := s.Text(bing, hash, now); (version != nil) != tc.known || version != nil && version.Hash != hash {
				t.Errorf("known: %v, want %v", version != nil, tc.known)
			}
			when, last := s.IsLast(bing, hash, now)
			if last != tc.last || last && !when.Equal(noon.Add(tc.when)) {
				t.Errorf("the last: %v at %v, want %v at %v", last, when, tc.last, noon.Add(tc.when))
			}
			if found := s.Find(func(v *policy.Version) bool { return v.Hash == hash }); (found != nil) != s.has(hash) {
				t.Errorf("found %v", found)
			}
			texts := make(map[string]bool)
			for _, s := range tc.served {
				texts[s.text] = true
			}
			if len(s.texts) != len(texts) {
				t.Errorf("%d texts are kept, want %d", len(s.texts), len(texts))
			}
		})
	}
}

// has reports whether a text is kept, whoever was served it.
func (s *SiteTexts) has(hash [sha256.Size]byte) bool {
	for _, known := range s.texts {
		if known.version.Hash == hash {
			return true
		}
	}
	return false
}

// TestTextsOfASite serves more texts than are kept.
func TestTextsOfASite(t *testing.T) {
	var none netip.Prefix // of operators
	for _, tc := range []struct {
		name string
		by   func(i int) netip.Prefix // for whom the text i was asked
		gone int                      // which text makes room for one more
	}{
		{"of one network", func(int) netip.Prefix { return here }, 0},
		{"of operators", func(int) netip.Prefix { return none }, 0},
		{"of a network after operators", func(i int) netip.Prefix {
			if i < 10 {
				return none
			}
			return here
		}, 10},
		{"of two networks, of which the second has more", func(i int) netip.Prefix {
			if i < 7 {
				return here
			}
			return there
		}, 7},
		{"of two networks alike", func(i int) netip.Prefix {
			if i%2 == 0 {
				return here
			}
			return there
		}, 0},
		{"of operators, and once of a network", func(i int) netip.Prefix {
			if i == 5 {
				return here
			}
			return none
		}, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var all Texts
			bing := Client{Operator: "Microsoft"}
			for i := range maxServedTexts {
				all.Confirm(key, bing, tc.by(i), answer(fmt.Sprint(i)), noon)
			}
			s := all.Site(key)
			if len(s.texts) != maxServedTexts {
				t.Fatalf("%d texts are kept, want %d", len(s.texts), maxServedTexts)
			}
			all.Confirm(key, bing, here, answer("more"), noon)
			size := 0
			for i := range maxServedTexts {
				if s.has(hashOf(t, fmt.Sprint(i))) != (i != tc.gone) {
					t.Errorf("text %d is kept: %v", i, i == tc.gone)
				}
			}
			for _, text := range s.texts {
				size += text.version.Robots.Size()
			}
			if len(s.texts) != maxServedTexts || all.bytes != size {
				t.Errorf("%d texts are kept, of %d bytes, want %d of %d", len(s.texts), all.bytes, maxServedTexts, size)
			}
		})
	}
}

// TestClientsOfAText serves a text to more clients than are remembered. The order of a map
// is another one each time.
func TestClientsOfAText(t *testing.T) {
	anybody := func(i int) Client { return Client{UserAgent: [sha256.Size]byte{byte(i), byte(i >> 8), 1}} }
	operator := func(i int) Client { return Client{Operator: fmt.Sprint(i)} }
	for _, tc := range []struct {
		name  string
		who   func(i int) Client // the one that is served the text i seconds after noon
		gone  int                // which is forgotten for one more
		again bool               // that one is served it again
	}{
		{"anybody", anybody, 0, false},
		{"operators", operator, 0, false},
		{"operators first", func(i int) Client {
			if i < 100 {
				return operator(i)
			}
			return anybody(i)
		}, 100, false},
		{"operators last", func(i int) Client {
			if i >= 100 {
				return operator(i)
			}
			return anybody(i)
		}, 0, false},
		{"one of all is nobody", func(i int) Client {
			if i == 200 {
				return anybody(i)
			}
			return operator(i)
		}, 200, false},
		{"again", anybody, -1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 20 {
				var all Texts
				for i := range maxServedClients {
					all.Confirm(key, tc.who(i), here, answer("a"), noon.Add(time.Duration(i)*time.Second))
				}
				s, hash, now := all.Site(key), hashOf(t, "a"), noon.Add(time.Hour)
				more := anybody(1000)
				if tc.again {
					more = tc.who(1)
				}
				all.Confirm(key, more, here, answer("a"), now)
				for i := range maxServedClients {
					if (s.Text(tc.who(i), hash, now) != nil) != (i != tc.gone) {
						t.Fatalf("client %d is forgotten: %v", i, i != tc.gone)
					}
				}
				if s.Text(more, hash, now) == nil {
					t.Fatal("the last is not remembered")
				}
			}
		})
	}
}
