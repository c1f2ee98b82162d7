package guard

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// someServed is a guard at which OpenAI is served a change before others, that allows
// /models/open/.
func someServed(t *testing.T, change shadow.Change) (g *Guard, ask func(who verify.State, userAgent, target, address string) judge.Verdict) {
	t.Helper()
	g = testGuard(t, options{Enforce: true}, serving("User-agent: *\nDisallow: /models/\n"))
	change.Source = "served 1"
	change.Has = func(host string) bool { return host == "example.com" }
	change.ServedTo = func(operator string) bool { return operator == "OpenAI" }
	if change.Text == nil {
		change.Text = func(string) policy.Answer {
			return policy.Answer{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /models/\nAllow: /models/open/\nDisallow: /drafts/\n")}
		}
	}
	t.Cleanup(g.shared.ServesSome(change))
	<-fetchDone(g, requestBy("bingbot/2.0", "/"))
	return g, func(who verify.State, userAgent, target, address string) judge.Verdict {
		t.Helper()
		r := from(requestBy(userAgent, target), address)
		j := g.Judge(r)
		j.Identity, j.Verdict, j.Action = who, judge.Allowed, judge.None
		entry := g.shared.Cache.Get(j.Site.Key)
		g.ask(r, entry, entry.State(), j)
		return j.Verdict
	}
}

// TestChangeOfAnOperator lets the verified crawlers of an operator that is served a
// change before others go by it, at an instance at which none has read anything. All
// others are held to what all others are served.
func TestChangeOfAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ask := someServed(t, shadow.Change{})
		for _, tc := range []struct {
			who               verify.State
			userAgent, target string
			want              judge.Verdict
		}{
			{verify.Verified, "GPTBot/1.0", "/models/open/1", judge.Stale},
			{verify.Verified, "OAI-SearchBot/1.0", "/models/open/1", judge.Stale},
			{verify.Verified, "GPTBot/1.0", "/models/1", judge.Disallowed},
			{verify.Verified, "GPTBot/1.0", "/drafts/1", judge.Allowed}, // which it need not have read
			{verify.Verified, "bingbot/2.0", "/models/open/1", judge.Disallowed},
			{verify.Claimed, "GPTBot/1.0", "/models/open/1", judge.Disallowed},
			{verify.Spoofed, "GPTBot/1.0", "/models/open/1", judge.Disallowed},
		} {
			if got := ask(tc.who, tc.userAgent, tc.target, "192.0.2.1"); got != tc.want {
				t.Errorf("%s %s at %s: %s, want %s", tc.who, tc.userAgent, tc.target, got, tc.want)
			}
		}
		passed := 0
		for range 100 { // nobody knows yet who that is
			if ask(verify.Unknown, "GPTBot/1.0", "/models/open/1", "192.0.2.7") != judge.Disallowed {
				passed++
			}
		}
		if passed == 0 || passed > 10 || ask(verify.Unknown, "GPTBot/1.0", "/models/1", "203.0.113.1") != judge.Disallowed {
			t.Errorf("of who is not known yet %d pass", passed)
		}
	})
}

// TestChangeOfAnOperatorIsOver goes on with it after the end, until the crawler has
// read the file again.
func TestChangeOfAnOperatorIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ask := someServed(t, shadow.Change{Ended: time.Now()})
		time.Sleep(time.Hour)
		if got := ask(verify.Verified, "GPTBot/1.0", "/models/open/1", "192.0.2.1"); got != judge.Stale {
			t.Errorf("before it reads the file it is %s", got)
		}
		r := requestBy("GPTBot/1.0", "/x")
		j := g.Judge(r)
		j.Identity = verify.Verified
		for _, reader := range g.readersOf(r, j) {
			g.shared.readers.Read(reader, ledger.Reading{At: time.Now(), Status: http.StatusOK, Hash: g.shared.Cache.Get(j.Site.Key).State().Good.Hash})
		}
		if got := ask(verify.Verified, "GPTBot/1.0", "/models/open/1", "192.0.2.1"); got != judge.Disallowed {
			t.Errorf("then it is %s", got)
		}
	})
}

// TestChangeOfAnOperatorThatIsNotKnown gives crawlers the benefit of the doubt a few
// times while it is not known what the change makes.
func TestChangeOfAnOperatorThatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ask := someServed(t, shadow.Change{Text: func(string) policy.Answer { return policy.Answer{Err: errors.New("no base")} }})
		passed := 0
		for range 100 {
			if ask(verify.Verified, "GPTBot/1.0", "/models/1", "192.0.2.1") != judge.Disallowed {
				passed++
			}
		}
		if passed == 0 || passed > 10 {
			t.Errorf("%d pass", passed)
		}
	})
}

// TestChanged makes the copies of hosts due that are served another text.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := testGuard(t, options{}, serving("User-agent: *\n"))
		r := requestBy("bingbot/2.0", "/")
		<-fetchDone(g, r)
		entry := g.shared.Cache.Get(keyFor(r))
		for _, has := range []bool{false, true} {
			g.shared.Changed(func(host string) bool { return has && host == "example.com" })
			if entry.Due(time.Now()) != has {
				t.Errorf("the copy is due: %t, want %t", !has, has)
			}
		}
	})
}
