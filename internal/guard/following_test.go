package guard

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// TestReadUnseenSince lets a crawler that was seen to read the file read it once more where
// nobody sees that, while the site serves another text: it is held to no text that has come
// since. Who could have read nothing else is.
func TestReadUnseenSince(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\nCrawl-delay: 5\n"
	bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
	for _, tc := range []struct {
		name   string
		before []string // served for an hour each, the last one is in force
		read   int      // which of them it was seen to read
		want   judge.Verdict
		last   judge.Verdict // a day after the last change
	}{
		{"what it read comes back", []string{strict, milder, strict}, 0, judge.Stale, judge.Disallowed},
		{"a third text forbids it, too", []string{loose, milder, strict}, 0, judge.Stale, judge.Disallowed},
		{"what it read is what is in force", []string{strict, milder, strict}, 2, judge.Disallowed, judge.Disallowed},
		{"it read that before the guard", []string{milder, strict}, 1, judge.Disallowed, judge.Disallowed},
		{"all texts since forbid it", []string{milder, strict, loose, strict}, 1, judge.Disallowed, judge.Disallowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTwoTexts(t, nil)
				s.g.Freshness.Default = 10 * time.Minute
				for n, text := range tc.before {
					s.text = text
					if n == tc.read {
						s.reads(bing("/robots.txt"), text)
						synctest.Wait()
					}
					s.reread()
					s.hold()
					time.Sleep(time.Hour)
				}
				for _, at := range []struct {
					after time.Duration
					want  judge.Verdict
				}{{0, tc.want}, {22 * time.Hour, tc.want}, {3 * time.Hour, tc.last}} {
					time.Sleep(at.after)
					if j := s.g.Judge(bing("/private/x")); j.Verdict != at.want {
						t.Errorf("after %s: %s, want %s", at.after, j.Verdict, at.want)
					}
				}
			})
		})
	}
}

// TestDelayReadUnseenSince is the same for how fast a crawler may ask.
func TestDelayReadUnseenSince(t *testing.T) {
	const slowly, less, freely = "User-agent: *\nCrawl-delay: 40\n", "User-agent: *\nCrawl-delay: 30\n", "User-agent: *\nDisallow: /x\n"
	ccbot := func(target string) *http.Request { return from(requestBy("CCBot/2.0", target), "192.0.2.1") }
	for _, tc := range []struct {
		name   string
		before []string
		read   int
		slowed bool
	}{
		{"what it read comes back", []string{slowly, freely, slowly}, 0, false},
		{"a third text asks for a delay, too", []string{less, freely, slowly}, 0, false},
		{"what it read is what is in force", []string{slowly, freely, slowly}, 2, true},
		{"all texts since ask for a delay", []string{freely, slowly, less, slowly}, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTwoTexts(t, nil)
				s.g.Rate = enforcing(nil)
				for n, text := range tc.before {
					s.text = text
					if n == tc.read {
						s.reads(ccbot("/robots.txt"), text)
						synctest.Wait()
					}
					s.reread()
					s.hold()
					time.Sleep(time.Hour)
				}
				slowed := false
				for range 40 {
					j := s.g.Judge(ccbot("/"))
					slowed = slowed || j.Action == judge.Slowed
				}
				if slowed != tc.slowed {
					t.Errorf("slowed: %t", slowed)
				}
			})
		})
	}
}

// TestServedNoLonger has a site serve a crawler a text of its own, and that which all get
// from then on: who has read that since, unseen, is not held to what it was seen to read.
func TestServedNoLonger(t *testing.T) {
	bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{"bingbot": strict})
			s.reads(bing("/robots.txt"), strict)
			synctest.Wait()
			if j := s.g.Judge(bing("/x")); j.Verdict != judge.Disallowed {
				t.Errorf("while it is served: %s", j.Verdict)
			}
			synctest.Wait()
			if ends {
				s.other["bingbot"] = loose
			}
			time.Sleep(2 * time.Hour)
			want := map[bool]judge.Verdict{true: judge.Allowed, false: judge.Disallowed}[ends]
			if j := s.g.Judge(bing("/x")); j.Verdict != want {
				t.Errorf("ends: %t: %s, want %s", ends, j.Verdict, want)
			}
		})
	}
}

// TestWhatMayBeFollowedIsOfNoSite has a crawler that has read nothing ask for what the last
// change forbids: of the site nothing is remembered for it, as there may be very many.
func TestWhatMayBeFollowedIsOfNoSite(t *testing.T) {
	s := newChangingSite(t, options{Enforce: true}, loose)
	s.text = strict
	s.reread()
	s.hold()
	r := from(requestBy("bingbot/2.0", "/x"), "192.0.2.1")
	if j := s.g.Judge(r); j.Verdict != judge.Stale {
		t.Fatal(j.Verdict)
	}
	if s.g.shared.served.Known(*s.g.siteOf(r).Own()) != nil {
		t.Error("something is remembered of the site")
	}
}
