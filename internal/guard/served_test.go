package guard

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/readers"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// twoTexts is a guard of a site whose robots.txt is loose for the guard and
// another text for whom it is asked with a User-Agent.
type twoTexts struct {
	*changingSite
	asked atomic.Int32
	other map[string]string // by the start of a User-Agent
}

func newTwoTexts(t *testing.T, other map[string]string) *twoTexts {
	s := &twoTexts{changingSite: newChangingSite(t, options{Enforce: true}, loose), other: other}
	s.hold()
	s.g.Source = witnessedSource(func(as origin.Witness) policy.Answer {
		text := s.text
		for name, other := range s.other {
			if strings.HasPrefix(as.UserAgent, name) {
				s.asked.Add(1)
				text = other
			}
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	})
	return s
}

// witnessedSource answers by whom it is read as.
type witnessedSource func(as origin.Witness) policy.Answer

func (s witnessedSource) Prepare(_ *http.Request, _ policy.Key, as origin.Witness) (origin.Fetch, bool) {
	return func(context.Context, *policy.Version) policy.Answer { return s(as) }, true
}

// TestServed judges crawlers by the text that they were served.
func TestServed(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
	for _, tc := range []struct {
		name    string
		other   string // what the site serves to bingbot
		reads   string // what bingbot got
		target  string
		verdict judge.Verdict
		rule    string
	}{
		{"a milder text", milder, milder, "/private/x", judge.Stale, "Disallow: /private/"},
		{"and what that forbids", milder, milder, "/else/x", judge.Disallowed, "Disallow: /else/"},
		{"a stricter text", strict, strict, "/x", judge.Disallowed, "Disallow: /"},
		{"a milder text that it does not serve by itself", loose, milder, "/private/x", judge.Disallowed, "Disallow: /private/"},
		{"a stricter text that it does not serve by itself", loose, strict, "/x", judge.Allowed, ""},
		{"what the guard has", milder, loose, "/private/x", judge.Disallowed, "Disallow: /private/"},
		{"a text without a group for it", "User-agent: GPTBot\nDisallow: /\n", "User-agent: GPTBot\nDisallow: /\n", "/private/x", judge.Stale, "Disallow: /private/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{"bingbot": tc.other})
			s.g.FetchWait = time.Minute // which a busy machine may need
			s.reads(bing("/robots.txt"), tc.reads)
			j := s.g.Judge(bing(tc.target))
			if j.Verdict != tc.verdict || j.Evidence.Rule.String() != tc.rule {
				t.Errorf("%s by %q, want %s by %q", j.Verdict, j.Evidence.Rule, tc.verdict, tc.rule)
			}
			for _, other := range []*http.Request{
				from(requestBy("bingbot/2.0", "/private/x"), "198.51.100.1"), // the name elsewhere
				from(requestBy("GPTBot/1.2", "/private/x"), "192.0.2.1"),     // another name there
			} {
				if j := s.g.Judge(other); j.Verdict != judge.Disallowed || j.Action != judge.Blocked {
					t.Errorf("%s from %s got %s", request.UserAgentOf(other), request.ClientAddr(other), j.Verdict)
				}
			}
		})
	}
	t.Run("where the guard cannot read the file", func(t *testing.T) {
		for _, changeGuard := range []time.Duration{0, time.Hour} {
			s := newTwoTexts(t, map[string]string{"bingbot": milder})
			g := testGuard(t, options{Enforce: true, Guard: changeGuard}, witnessedSource(func(as origin.Witness) policy.Answer {
				if as.UserAgent == "" {
					return policy.Answer{Status: http.StatusInternalServerError}
				}
				return policy.Answer{Status: http.StatusOK, Body: []byte(milder)}
			}))
			s.g = g
			s.reads(bing("/robots.txt"), milder)
			for _, target := range []string{"/private/x", "/else/x"} {
				if j := g.Judge(bing(target)); j.Verdict != judge.Unknown {
					t.Errorf("%s: %s, want unknown", target, j.Verdict)
				}
			}
		}
	})
	t.Run("it is over after a day", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{"bingbot": milder})
			s.reads(bing("/robots.txt"), milder)
			for _, tc := range []struct {
				after   time.Duration
				verdict judge.Verdict
			}{{0, judge.Stale}, {23 * time.Hour, judge.Stale}, {time.Hour, judge.Disallowed}} {
				time.Sleep(tc.after)
				if j := s.g.Judge(bing("/private/x")); j.Verdict != tc.verdict {
					t.Errorf("%v later: %s, want %s", tc.after, j.Verdict, tc.verdict)
				}
			}
		})
	})
	t.Run("it reads again", func(t *testing.T) {
		s := newTwoTexts(t, map[string]string{"bingbot": milder})
		s.reads(bing("/robots.txt"), milder)
		s.reads(bing("/robots.txt"), loose)
		if j := s.g.Judge(bing("/private/x")); j.Verdict != judge.Disallowed {
			t.Errorf("%s after it has read the guard's text", j.Verdict)
		}
	})
	t.Run("the owner has replaced it, and there is no grace", func(t *testing.T) {
		s := newTwoTexts(t, map[string]string{"bingbot": strict})
		s.g.Grace, s.text = 0, strict
		s.reread()
		s.hold()
		s.reads(bing("/robots.txt"), strict)
		if j := s.g.Judge(bing("/x")); j.Verdict != judge.Disallowed {
			t.Errorf("%s by the text that it was served", j.Verdict)
		}
		s.text = milder
		s.reread()
		s.hold()
		if j := s.g.Judge(bing("/x")); j.Verdict != judge.Allowed {
			t.Errorf("what the new text allows is %s", j.Verdict)
		}
	})
	t.Run("the owner has replaced it", func(t *testing.T) {
		s := newTwoTexts(t, nil)
		s.text = strict
		s.reread()
		s.hold()
		s.reads(bing("/robots.txt"), strict)
		s.text = loose
		s.reread()
		s.hold()
		if j := s.g.Judge(bing("/x")); j.Verdict != judge.Allowed {
			t.Errorf("what the new text allows is %s for who has read the old one", j.Verdict)
		}
	})
}

// The bounds of package readers: requests of a network to a site in an hour that pass
// meanwhile, and how often all networks together have a site asked.
const (
	maxPending        = 8
	allRate, allBurst = 5 * time.Second, 40
)

// TestServedIsBounded lets clients bring about new texts all the time, while the
// site cannot be asked in time. Few of their requests pass, and few are made to
// the site.
func TestServedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTwoTexts(t, nil)
		var asked atomic.Int32
		s.g.Source = witnessedSource(func(as origin.Witness) policy.Answer {
			if as.UserAgent != "" {
				asked.Add(1)
				time.Sleep(4 * time.Second) // longer than a request waits
			}
			return policy.Answer{Status: http.StatusOK, Body: []byte(loose)}
		})
		names := uaident.Default().Crawlers()
		passed, requests := 0, 0
		for i := range 300 {
			userAgent := names[i%len(names)].Token + "/1.0"
			address := fmt.Sprintf("198.51.%d.1", i%4)
			s.reads(from(requestBy(userAgent, "/robots.txt"), address), fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i))
			if j := s.g.Judge(from(requestBy(userAgent, "/private/x"), address)); j != nil && j.Verdict == judge.Stale {
				passed++
			}
			requests++
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute) // for what is being asked
		synctest.Wait()
		if most := 4 * (maxPending + 1); passed == 0 || passed > most {
			t.Errorf("%d of %d requests of four networks passed, want some and not more than %d", passed, requests, most)
		}
		minutes := 300 * time.Second
		most := readers.MaxAsks * (allBurst + int(minutes/allRate) + 2)
		if n := int(asked.Load()); n == 0 || n > most {
			t.Errorf("the site was asked %d times, want some and not more than %d", n, most)
		}
	})
}

// TestVerifiedIsBelieved takes what a verified crawler was served for true, also
// for other crawlers of its operator, and for nobody else.
func TestVerifiedIsBelieved(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	s := newTwoTexts(t, nil)
	judgedAs := func(userAgent, target string, who verify.State) *Judgement {
		r := from(requestBy(userAgent, target), "192.0.2.1")
		j := s.g.Judge(r)
		j.Identity, j.Verdict, j.Action = who, judge.Allowed, judge.None
		if !request.IsRobotsTxt(r) {
			s.g.ask(r, s.entry, s.entry.State(), j)
		}
		return j
	}
	r := from(requestBy("Googlebot/2.1", "/robots.txt"), "192.0.2.1")
	j := judgedAs("Googlebot/2.1", "/robots.txt", verify.Verified)
	read := readingOf(milder)
	s.g.rememberReading(r, j, asking{site: j.Site, exact: true, sure: true, asksForFile: true, readers: s.g.readersOf(r, j)},
		s.entry, robotsAnswer{status: http.StatusOK, text: []byte(milder), hash: read.Hash}, &read)
	for _, tc := range []struct {
		userAgent string
		who       verify.State
		verdict   judge.Verdict
	}{
		{"Googlebot/2.1", verify.Verified, judge.Stale},
		{"Googlebot-Image/1.0", verify.Verified, judge.Stale},
		{"Googlebot/2.1", verify.Unknown, judge.Disallowed},
		{"bingbot/2.0", verify.Verified, judge.Disallowed},
	} {
		if j := judgedAs(tc.userAgent, "/private/x", tc.who); j.Verdict != tc.verdict {
			t.Errorf("%s, %s: %s, want %s", tc.userAgent, tc.who, j.Verdict, tc.verdict)
		}
	}
	if n := s.asked.Load(); n != 0 {
		t.Errorf("the site was asked %d times", n)
	}
}

// TestLiarsGainNothing lets a client under a false name read a text that is meant
// for whom it claims to be.
func TestLiarsGainNothing(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	s := newTwoTexts(t, map[string]string{"bingbot": milder})
	r := from(requestBy("bingbot/2.0", "/private/x"), "192.0.2.1")
	s.reads(from(requestBy("bingbot/2.0", "/robots.txt"), "192.0.2.1"), milder)
	for who, want := range map[verify.State]judge.Verdict{verify.Claimed: judge.Stale, verify.Spoofed: judge.Disallowed} {
		j := s.g.Judge(r)
		j.Identity, j.Verdict, j.Action = who, judge.Allowed, judge.None
		s.g.ask(r, s.entry, s.entry.State(), j)
		if j.Verdict != want {
			t.Errorf("%s: %s, want %s", who, j.Verdict, want)
		}
	}
}

// TestAddressThatMayBeInvented lets a client behind a proxy claim an address.
func TestAddressThatMayBeInvented(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	s := newTwoTexts(t, map[string]string{"bingbot": milder})
	s.g.FetchWait = time.Minute // which a busy machine may need
	server := &caddyhttp.Server{ClientIPHeaders: []string{"X-Forwarded-For"}}
	for forwarded, want := range map[string]judge.Verdict{"198.51.100.1": judge.Stale, "203.0.113.2, 192.0.2.9": judge.Disallowed} {
		asks := func(target string) *http.Request {
			address, _, _ := strings.Cut(forwarded, ",")
			r := requestBy("bingbot/2.0", target)
			r.Header.Set("X-Forwarded-For", forwarded)
			ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)
			return r.WithContext(context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: true, caddyhttp.ClientIPVarKey: address}))
		}
		s.reads(asks("/robots.txt"), milder)
		if j := s.g.Judge(asks("/private/x")); j.Verdict != want {
			t.Errorf("%s: %s, want %s", forwarded, j.Verdict, want)
		}
	}
}
