package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// twoTexts is a guard of a site whose robots.txt is loose for the guard and
// another text for whom it is asked with a User-Agent.
type twoTexts struct {
	*changingSite
	asked atomic.Int32
	other map[string]string // by the start of a User-Agent
}

func newTwoTexts(t *testing.T, other map[string]string) *twoTexts {
	s := &twoTexts{changingSite: newChangingSite(t, Handler{Mode: modeEnforce}, loose), other: other}
	s.hold()
	s.g.source = witnessedSource(func(as witness) policy.Answer {
		text := s.text
		for name, other := range s.other {
			if strings.HasPrefix(as.userAgent, name) {
				s.asked.Add(1)
				text = other
			}
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	})
	return s
}

// witnessedSource answers by whom it is read as.
type witnessedSource func(as witness) policy.Answer

func (s witnessedSource) prepare(_ *http.Request, _ policy.Key, as witness) (reader, bool) {
	return func(context.Context, *policy.Version) policy.Answer { return s(as) }, true
}

// TestServed judges crawlers by the text that they were served.
func TestServed(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	bing := func(target string) *http.Request { return from(request("bingbot/2.0", target), "192.0.2.1") }
	for _, tc := range []struct {
		name    string
		other   string // what the site serves to bingbot
		reads   string // what bingbot got
		target  string
		verdict verdict
		rule    string
	}{
		{"a milder text", milder, milder, "/private/x", verdictStale, "Disallow: /private/"},
		{"and what that forbids", milder, milder, "/else/x", verdictDisallowed, "Disallow: /else/"},
		{"a stricter text", strict, strict, "/x", verdictDisallowed, "Disallow: /"},
		{"a milder text that it does not serve by itself", loose, milder, "/private/x", verdictDisallowed, "Disallow: /private/"},
		{"a stricter text that it does not serve by itself", loose, strict, "/x", verdictAllowed, ""},
		{"what the guard has", milder, loose, "/private/x", verdictDisallowed, "Disallow: /private/"},
		{"a text without a group for it", "User-agent: GPTBot\nDisallow: /\n", "User-agent: GPTBot\nDisallow: /\n", "/private/x", verdictStale, "Disallow: /private/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{"bingbot": tc.other})
			s.reads(bing("/robots.txt"), tc.reads)
			j := s.g.judge(bing(tc.target))
			if j.verdict != tc.verdict || j.policy.Rule.String() != tc.rule {
				t.Errorf("%s by %q, want %s by %q", j.verdict, j.policy.Rule, tc.verdict, tc.rule)
			}
			for _, other := range []*http.Request{
				from(request("bingbot/2.0", "/private/x"), "198.51.100.1"), // the name elsewhere
				from(request("GPTBot/1.2", "/private/x"), "192.0.2.1"),     // another name there
			} {
				if j := s.g.judge(other); j.verdict != verdictDisallowed || j.action != actionBlocked {
					t.Errorf("%s from %s got %s", userAgentOf(other), clientAddr(other), j.verdict)
				}
			}
		})
	}
	t.Run("where the guard cannot read the file", func(t *testing.T) {
		for _, changeGuard := range []caddy.Duration{0, caddy.Duration(time.Hour)} {
			s := newTwoTexts(t, map[string]string{"bingbot": milder})
			g := testGuard(t, Handler{Mode: modeEnforce, ChangeGuard: changeGuard}, witnessedSource(func(as witness) policy.Answer {
				if as.userAgent == "" {
					return policy.Answer{Status: http.StatusInternalServerError}
				}
				return policy.Answer{Status: http.StatusOK, Body: []byte(milder)}
			}))
			s.g = g
			s.reads(bing("/robots.txt"), milder)
			for _, target := range []string{"/private/x", "/else/x"} {
				if j := g.judge(bing(target)); j.verdict != verdictUnknown {
					t.Errorf("%s: %s, want unknown", target, j.verdict)
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
				verdict verdict
			}{{0, verdictStale}, {23 * time.Hour, verdictStale}, {time.Hour, verdictDisallowed}} {
				time.Sleep(tc.after)
				if j := s.g.judge(bing("/private/x")); j.verdict != tc.verdict {
					t.Errorf("%v later: %s, want %s", tc.after, j.verdict, tc.verdict)
				}
			}
		})
	})
	t.Run("it reads again", func(t *testing.T) {
		s := newTwoTexts(t, map[string]string{"bingbot": milder})
		s.reads(bing("/robots.txt"), milder)
		s.reads(bing("/robots.txt"), loose)
		if j := s.g.judge(bing("/private/x")); j.verdict != verdictDisallowed {
			t.Errorf("%s after it has read the guard's text", j.verdict)
		}
	})
	t.Run("the owner has replaced it, and there is no grace", func(t *testing.T) {
		s := newTwoTexts(t, map[string]string{"bingbot": strict})
		s.g.grace, s.text = 0, strict
		s.reread()
		s.hold()
		s.reads(bing("/robots.txt"), strict)
		if j := s.g.judge(bing("/x")); j.verdict != verdictDisallowed {
			t.Errorf("%s by the text that it was served", j.verdict)
		}
		s.text = milder
		s.reread()
		s.hold()
		if j := s.g.judge(bing("/x")); j.verdict != verdictAllowed {
			t.Errorf("what the new text allows is %s", j.verdict)
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
		if j := s.g.judge(bing("/x")); j.verdict != verdictAllowed {
			t.Errorf("what the new text allows is %s for who has read the old one", j.verdict)
		}
	})
}

// TestServedIsBounded lets clients bring about new texts all the time, while the
// site cannot be asked in time. Few of their requests pass, and few are made to
// the site.
func TestServedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTwoTexts(t, nil)
		var asked atomic.Int32
		s.g.source = witnessedSource(func(as witness) policy.Answer {
			if as.userAgent != "" {
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
			s.reads(from(request(userAgent, "/robots.txt"), address), fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i))
			if j := s.g.judge(from(request(userAgent, "/private/x"), address)); j != nil && j.verdict == verdictStale {
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
		most := maxAsks * (allBurst + int(minutes/allRate) + 2)
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
	judgedAs := func(userAgent, target string, who identity) *judgement {
		r := from(request(userAgent, target), "192.0.2.1")
		j := s.g.judge(r)
		j.identity, j.verdict, j.action = who, verdictAllowed, actionNone
		if !isRobotsTxt(r) {
			s.g.ask(r, r, s.entry, s.entry.Standing(), j)
		}
		return j
	}
	r := from(request("Googlebot/2.1", "/robots.txt"), "192.0.2.1")
	j := judgedAs("Googlebot/2.1", "/robots.txt", identityVerified)
	read := readingOf(milder)
	s.g.noteReading(r, j, asking{site: j.site, exact: true, canonical: true, plain: true, asksForFile: true, readers: s.g.readersOf(r, j)},
		s.entry, robotsAnswer{status: http.StatusOK, text: []byte(milder), hash: read.Hash}, &read)
	for _, tc := range []struct {
		userAgent string
		who       identity
		verdict   verdict
	}{
		{"Googlebot/2.1", identityVerified, verdictStale},
		{"Googlebot-Image/1.0", identityVerified, verdictStale},
		{"Googlebot/2.1", identityUnknown, verdictDisallowed},
		{"bingbot/2.0", identityVerified, verdictDisallowed},
	} {
		if j := judgedAs(tc.userAgent, "/private/x", tc.who); j.verdict != tc.verdict {
			t.Errorf("%s, %s: %s, want %s", tc.userAgent, tc.who, j.verdict, tc.verdict)
		}
	}
	if n := s.asked.Load(); n != 0 {
		t.Errorf("the site was asked %d times", n)
	}
}

// TestServedTextsAreBounded confirms more texts than there is room for.
func TestServedTextsAreBounded(t *testing.T) {
	var s served
	long := strings.Repeat("Disallow: /x\n", 30_000)
	for i := range 200 {
		of := newSite(namedKey(fmt.Sprintf("%d.test", i/4)))
		s.confirm(of, servedClient{operator: "Microsoft"}, netip.Prefix{}, policy.Answer{Status: http.StatusOK, Body: fmt.Appendf(nil, "User-agent: *\n# %d\n%s", i, long)}, time.Now())
		if s.bytes > maxServedBytes {
			t.Fatalf("after %d texts: %d bytes, want at most %d", i, s.bytes, maxServedBytes)
		}
	}
	if s.sites[policy.Named].Len() == 0 || s.bytes == 0 {
		t.Error("nothing is remembered")
	}
	for s.forget(s.sites[policy.Named]) {
	}
	if s.bytes != 0 {
		t.Errorf("without a site there are %d bytes", s.bytes)
	}
}

// TestLiarsGainNothing lets a client under a false name read a text that is meant
// for whom it claims to be.
func TestLiarsGainNothing(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	s := newTwoTexts(t, map[string]string{"bingbot": milder})
	r := from(request("bingbot/2.0", "/private/x"), "192.0.2.1")
	s.reads(from(request("bingbot/2.0", "/robots.txt"), "192.0.2.1"), milder)
	for who, want := range map[identity]verdict{identityClaimed: verdictStale, identitySpoofed: verdictDisallowed} {
		j := s.g.judge(r)
		j.identity, j.verdict, j.action = who, verdictAllowed, actionNone
		s.g.ask(r, r, s.entry, s.entry.Standing(), j)
		if j.verdict != want {
			t.Errorf("%s: %s, want %s", who, j.verdict, want)
		}
	}
}

// TestAddressThatMayBeInvented lets a client behind a proxy claim an address.
func TestAddressThatMayBeInvented(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	s := newTwoTexts(t, map[string]string{"bingbot": milder})
	server := &caddyhttp.Server{ClientIPHeaders: []string{"X-Forwarded-For"}}
	for forwarded, want := range map[string]verdict{"198.51.100.1": verdictStale, "203.0.113.2, 192.0.2.9": verdictDisallowed} {
		asks := func(target string) *http.Request {
			address, _, _ := strings.Cut(forwarded, ",")
			r := request("bingbot/2.0", target)
			r.Header.Set("X-Forwarded-For", forwarded)
			ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)
			return r.WithContext(context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: true, caddyhttp.ClientIPVarKey: address}))
		}
		s.reads(asks("/robots.txt"), milder)
		if j := s.g.judge(asks("/private/x")); j.verdict != want {
			t.Errorf("%s: %s, want %s", forwarded, j.verdict, want)
		}
	}
}
