package guard

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestGraceOfACrawler changes a robots.txt that then blocks two crawlers. One has a
// grace of a day, the other three days, according to its operator.
func TestGraceOfACrawler(t *testing.T) {
	const group = "User-agent: bingbot\nUser-agent: DuckAssistBot\nDisallow: /"
	for _, tc := range []struct {
		name   string
		grace  time.Duration
		client string
		who    verify.State
		stale  time.Duration // end of the time in which it may obey the previous file
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
				g := testGuard(t, options{Enforce: true, Grace: tc.grace}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
					return policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}
				}})
				asks := func(who verify.State) judge.Verdict {
					t.Helper()
					r := requestBy(tc.client, "/x")
					j := g.Judge(r)
					synctest.Wait()
					j.Verification, j.Verdict, j.Action = who, judge.Allowed, judge.NoAction
					entry := g.state.Cache.Get(j.Site.Key)
					g.judgeBySite(r, j, entry, entry.State())
					return j.Verdict
				}
				if got := asks(tc.who); got != judge.Allowed {
					t.Fatalf("before the change: %s", got)
				}
				text = group + "\n"
				time.Sleep(25 * time.Hour) // until the copy is too old
				asks(tc.who)
				changed := time.Now() // time at which the guard noticed the change
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

// TestReadingOfATextServedInTurns makes a crawler fetch the previous file once more
// after a different file was found.
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
			ask() // finds the other file
			s := &changingSite{t: t, g: g}
			s.reads(from(requestBy(tc.client, "/robots.txt"), "192.0.2.1"), group+"private/\n")
			time.Sleep(tc.after)
			if got := ask(); got != tc.want {
				t.Errorf("%s after %s is %s, want %s", tc.client, tc.after, got, tc.want)
			}
		})
	}
}
