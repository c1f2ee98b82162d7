package guard

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestGraceOfACrawler changes a robots.txt and asks, hours later, as two crawlers that it
// shuts out since: one may know after a day, the other after three, as its operator says.
func TestGraceOfACrawler(t *testing.T) {
	const group = "User-agent: bingbot\nUser-agent: DuckAssistBot\nDisallow: /"
	for _, tc := range []struct {
		name   string
		grace  time.Duration
		client string
		who    verify.State
		stale  time.Duration // until when it may still follow the text before
	}{
		{"any crawler", 0, "bingbot/2.0", verify.Claimed, 24 * time.Hour},
		{"one that takes longer", 0, "DuckAssistBot/1.2", verify.Claimed, 72 * time.Hour},
		{"one that takes longer, by its address", 0, "DuckAssistBot/1.2", verify.Verified, 72 * time.Hour},
		{"under its name from elsewhere", 0, "DuckAssistBot/1.2", verify.Spoofed, 24 * time.Hour},
		{"the owner gives more to all", 96 * time.Hour, "DuckAssistBot/1.2", verify.Claimed, 96 * time.Hour},
		{"the owner gives less to all", time.Hour, "DuckAssistBot/1.2", verify.Claimed, time.Hour},
		{"the owner gives none", -1, "DuckAssistBot/1.2", verify.Claimed, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text := group + "private/\n"
				g := testGuard(t, options{Enforce: true, Grace: tc.grace}, &scriptedSource{answer: func(context.Context) policy.Answer {
					return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
				}})
				asks := func(who verify.State) judge.Verdict {
					t.Helper()
					r := requestBy(tc.client, "/x")
					j := g.Judge(r)
					synctest.Wait()
					j.Identity, j.Verdict, j.Action = who, judge.Allowed, judge.None
					entry := g.shared.Cache.Get(j.Site.Key)
					g.ask(r, entry, entry.State(), j)
					return j.Verdict
				}
				if got := asks(tc.who); got != judge.Allowed {
					t.Fatalf("before the change: %s", got)
				}
				text = group + "\n"
				time.Sleep(25 * time.Hour) // until the copy is too old
				asks(tc.who)
				changed := time.Now() // as the guard has seen it
				for _, after := range []time.Duration{time.Minute, 59 * time.Minute, 61 * time.Minute, 23 * time.Hour, 25 * time.Hour, 71 * time.Hour, 73 * time.Hour, 97 * time.Hour} {
					time.Sleep(after - time.Since(changed))
					want := judge.Disallowed
					if after < tc.stale {
						want = judge.Stale
					}
					if got := asks(tc.who); got != want {
						t.Errorf("%v after the change: %s, want %s", after, got, want)
					}
				}
			})
		})
	}
}

// guardApart returns a guard of a site that answers it something of its own, and serves all
// others strict.
func guardApart(t *testing.T, answer *policy.Answer) *Guard {
	return testGuard(t, options{Enforce: true}, witnessedSource(func(as origin.Witness) policy.Answer {
		if as.RemoteAddr == "" {
			return *answer
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(strict)}
	}))
}

// asks returns the verdict about a client that asks for a page from an address.
func (s *changingSite) asks(agent, address string) judge.Verdict {
	j := s.g.Judge(from(requestBy(agent, "/x"), address))
	synctest.Wait()
	return j.Verdict
}

// TestGraceOfNoFile has a site without a robots.txt refuse the guard, and the guard alone,
// and then serve crawlers a text: who was told that there is no file may not know that. Where
// the guard has never been answered otherwise, it knows of nobody who was.
func TestGraceOfNoFile(t *testing.T) {
	for first, want := range map[int]judge.Verdict{
		http.StatusNotFound: judge.Stale, http.StatusGone: judge.Stale, http.StatusOK: judge.Stale, http.StatusForbidden: judge.Disallowed,
	} {
		t.Run(http.StatusText(first), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := policy.Answer{Status: first}
				s := &changingSite{t: t, g: guardApart(t, &answer)}
				asks := s.asks
				if got := asks("bingbot/2.0", "192.0.2.1"); got != judge.Allowed {
					t.Fatalf("at first: %s", got)
				}
				answer.Status = http.StatusForbidden
				time.Sleep(time.Hour)
				asks("bingbot/2.0", "192.0.2.1")
				s.reads(from(requestBy("Googlebot/2.1", "/robots.txt"), "198.51.100.7"), strict)
				time.Sleep(time.Hour)
				asks("Googlebot/2.1", "198.51.100.7")
				if got := asks("Googlebot/2.1", "198.51.100.7"); got != judge.Disallowed {
					t.Fatalf("who has read it: %s", got)
				}
				if got := asks("bingbot/2.0", "192.0.2.1"); got != want {
					t.Errorf("who has not read it: %s, want %s", got, want)
				}
			})
		})
	}
}

// TestReadingOfLongAgo has a crawler read the text in force days ago, and the site serve
// another one meanwhile: a copy lasts a day, so it has read that since, where nobody saw it.
func TestReadingOfLongAgo(t *testing.T) {
	for again, want := range map[bool]judge.Verdict{false: judge.Stale, true: judge.Disallowed} {
		synctest.Test(t, func(t *testing.T) {
			const milder = "User-agent: *\nDisallow: /private/\n"
			text := strict
			g := testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.Answer {
				return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
			}})
			s := &changingSite{t: t, g: g}
			asks := func(agent, address string) judge.Verdict {
				j := g.Judge(from(requestBy(agent, "/x"), address))
				synctest.Wait()
				return j.Verdict
			}
			asks("GPTBot/1.0", "192.0.2.1")
			s.reads(from(requestBy("bingbot/2.0", "/robots.txt"), "198.51.100.7"), text)
			for _, text = range []string{milder, strict} {
				time.Sleep(25 * time.Hour)
				asks("GPTBot/1.0", "192.0.2.1")
			}
			if again {
				s.reads(from(requestBy("bingbot/2.0", "/robots.txt"), "198.51.100.7"), text)
			}
			time.Sleep(time.Hour)
			if got := asks("bingbot/2.0", "198.51.100.7"); got != want {
				t.Errorf("which has read it again: %t: %s, want %s", again, got, want)
			}
		})
	}
}

// TestReadingOfATextServedInTurns lets a crawler read the text before once more, after
// another one was found in its place.
func TestReadingOfATextServedInTurns(t *testing.T) {
	const group = "User-agent: bingbot\nUser-agent: DuckAssistBot\nDisallow: /"
	for _, tc := range []struct {
		client string
		after  time.Duration
		want   judge.Verdict
	}{
		{"bingbot/2.0", 23 * time.Hour, judge.Stale},
		{"bingbot/2.0", 43 * time.Hour, judge.Disallowed},
		{"DuckAssistBot/1.2", 43 * time.Hour, judge.Stale},
		{"DuckAssistBot/1.2", 73 * time.Hour, judge.Disallowed},
	} {
		synctest.Test(t, func(t *testing.T) {
			text := group + "private/\n"
			g, reads := longLived(t, &text)
			ask := func() judge.Verdict {
				j := g.Judge(from(requestBy(tc.client, "/x"), "192.0.2.1"))
				reads()
				return j.Verdict
			}
			ask()
			text = group + "\n"
			time.Sleep(25 * time.Hour)
			ask() // finds the other text
			s := &changingSite{t: t, g: g}
			s.reads(from(requestBy(tc.client, "/robots.txt"), "192.0.2.1"), group+"private/\n")
			time.Sleep(tc.after)
			if got := ask(); got != tc.want {
				t.Errorf("%s after %s is %s, want %s", tc.client, tc.after, got, tc.want)
			}
		})
	}
}

// TestGraceBeforeARefusal has a site refuse the guard, and the guard alone, for longer than a
// day, and then serve crawlers another text than before that: who was not seen to read it
// may have gone by the text before for as long as nobody was seen to be served another.
func TestGraceBeforeARefusal(t *testing.T) {
	for _, tc := range []struct {
		before string
		want   judge.Verdict
	}{
		{loose, judge.Stale},
		{strict + "\n", judge.Disallowed}, // which forbids it, too
	} {
		synctest.Test(t, func(t *testing.T) {
			answer := policy.Answer{Status: http.StatusOK, Body: []byte(tc.before)}
			s := &changingSite{t: t, g: guardApart(t, &answer)}
			asks := s.asks
			asks("bingbot/2.0", "192.0.2.1")
			answer = policy.Answer{Status: http.StatusForbidden}
			for range 30 {
				time.Sleep(time.Hour)
				asks("AhrefsBot/7.0", "192.0.2.7")
			}
			s.reads(from(requestBy("Googlebot/2.1", "/robots.txt"), "198.51.100.7"), strict)
			time.Sleep(time.Hour)
			asks("Googlebot/2.1", "198.51.100.7")
			if got := asks("Googlebot/2.1", "198.51.100.7"); got != judge.Disallowed {
				t.Fatalf("who has read it: %s", got)
			}
			if got := asks("bingbot/2.0", "192.0.2.1"); got != tc.want {
				t.Errorf("after %q who has not read it: %s, want %s", tc.before, got, tc.want)
			}
		})
	}
}
