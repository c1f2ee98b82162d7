package guard

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	uaGooglebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	uaBingbot   = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	uaGPTBot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"

	heldFor = 6 * time.Hour
)

// guardedSite is a site with a change guard and a clock that the test controls. It has
// no grace, which would hide the effect of the change guard.
type guardedSite struct {
	*changingSite
	now  time.Time
	logs *observer.ObservedLogs
	end  context.CancelFunc // ends the guard
}

func newGuardedSite(t *testing.T, text string) *guardedSite {
	h := options{Enforce: true, Grace: -1}
	s := &guardedSite{changingSite: newChangingSite(t, h, text), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.g.ChangeGuardTime = heldFor
	ctx, end := context.WithCancel(t.Context())
	s.end = end
	s.g.state.changeGuard.AddUser(ctx)
	s.hold()
	s.g.state.changeGuard.Clock = func() time.Time { return s.now }
	s.observe()
	return s
}

// observe records the log of the guard from now on.
func (s *guardedSite) observe() {
	var core zapcore.Core
	core, s.logs = observer.New(zapcore.InfoLevel)
	s.g.Logger = zap.New(core)
}

// become changes the robots.txt.
func (s *guardedSite) become(text string) {
	s.t.Helper()
	s.text = text
	s.entry.MakeDue()
	s.reread()
	s.hold()
}

// visit requests a page, to which the origin responds with status. It returns the
// verdict and the action.
func (s *guardedSite) visit(userAgent, target string, status int) string {
	s.t.Helper()
	r := requestBy(userAgent, target)
	j := s.g.Judge(r)
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(status)
		_, err := io.WriteString(w, "page")
		return err
	})
	if j == nil {
		return "not judged"
	}
	if j.Action != judge.Blocked {
		w := httptest.NewRecorder()
		if err := s.g.passUnblockedRequest(w, r, j, next); err != nil {
			s.t.Fatal(err)
		}
		if w.Code != status || w.Body.String() != "page" {
			s.t.Errorf("%s: answered %d %q, want %d and the page", target, w.Code, w.Body, status)
		}
	}
	return j.Verdict.String() + ", " + j.Action.String()
}

const (
	allowed = "allowed, none"
	stale   = "stale, none"
	blocked = "disallowed, blocked"

	onlyBing = "User-agent: bingbot\nDisallow: /\n"
	noRules  = "# nothing is forbidden\n"
)

func TestChangeGuard(t *testing.T) {
	// A step advances the clock, changes the robots.txt unless it is "", and sends a
	// request unless the User-Agent is "".
	type step struct {
		after             time.Duration
		robots            string
		userAgent, target string
		status            int // of the origin's response; 0 stands for 200
		want              string
	}
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"everything is forbidden", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{after: time.Hour, robots: strict, userAgent: uaGooglebot, target: "/a", want: stale},
			{userAgent: uaGooglebot, target: "/never/seen", want: stale},
			{userAgent: uaGPTBot, target: "/a", want: stale},
			{userAgent: uaBingbot, target: "/private/x", want: blocked}, // disallowed by both versions
			{after: heldFor - 1, userAgent: uaGooglebot, target: "/a", want: stale},
			{after: 1, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
		{"only what nobody has visited is forbidden", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: loose + "Disallow: /b\n", userAgent: uaGooglebot, target: "/b", want: blocked},
			{userAgent: uaGooglebot, target: "/a", want: allowed},
		}},
		{"what was visited long ago is forbidden", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{after: 24 * time.Hour, robots: strict, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
		{"another crawler is forbidden", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: loose + "\n" + onlyBing, userAgent: uaBingbot, target: "/a", want: blocked},
			{userAgent: uaGooglebot, target: "/a", want: allowed},
		}},
		{"the crawler that came is forbidden", []step{
			{userAgent: uaBingbot, target: "/a", want: allowed},
			{robots: loose + "\n" + onlyBing, userAgent: uaBingbot, target: "/a", want: stale},
			// Pages that the new version allows are allowed, even if the previous
			// version disallows them.
			{robots: "", userAgent: uaGooglebot, target: "/a", want: allowed},
		}},
		{"the new version is looser elsewhere", []step{
			{userAgent: uaBingbot, target: "/a", want: allowed},
			{robots: onlyBing, userAgent: uaGooglebot, target: "/private/x", want: allowed},
			{userAgent: uaBingbot, target: "/a", want: stale},
			{userAgent: uaBingbot, target: "/private/x", want: blocked},
		}},
		{"a group of its own is not concerned", []step{
			{robots: loose + "\nUser-agent: GPTBot\nDisallow: /gpt/\n", userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: strict + "\nUser-agent: GPTBot\nDisallow: /gpt/\n", userAgent: uaGooglebot, target: "/a", want: stale},
			{userAgent: uaGPTBot, target: "/a", want: allowed},
			{userAgent: uaGPTBot, target: "/gpt/x", want: blocked},
		}},
		{"only browsers and other classes came", []step{
			{userAgent: uaFirefox, target: "/a", want: "not judged"},
			{userAgent: uaGPTBot, target: "/a", want: allowed},
			{robots: strict, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
		{"the page was not there", []step{
			{userAgent: uaGooglebot, target: "/a", status: 404, want: allowed},
			{robots: strict, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
		{"it was forbidden and asked for before", []step{
			{userAgent: uaGooglebot, target: "/private/x", want: blocked},
			{robots: "User-agent: *\nDisallow: /private\n", userAgent: uaGooglebot, target: "/private/x", want: blocked},
		}},
		{"there was no robots.txt with rules before", []step{
			{robots: noRules, userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: strict, userAgent: uaGooglebot, target: "/a", want: stale},
		}},
		{"the file changes back, and again", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: strict, userAgent: uaGooglebot, target: "/a", want: stale},
			{after: time.Hour, robots: loose, userAgent: uaGooglebot, target: "/a", want: allowed},
			{userAgent: uaGooglebot, target: "/private/x", want: blocked},
			{after: time.Hour, robots: strict, userAgent: uaGooglebot, target: "/a", want: stale},
			{after: heldFor, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
		{"a second change that forbids as much gets no more time", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: strict, userAgent: uaGooglebot, target: "/a", want: stale},
			{after: heldFor - 1, robots: strict + "# meant so\n", userAgent: uaGooglebot, target: "/a", want: stale},
			{after: 1, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
		{"a second change that allows the pages ends it", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{robots: strict, userAgent: uaGooglebot, target: "/b", want: stale},
			{after: time.Hour, robots: "User-agent: *\nDisallow: /b\n", userAgent: uaGooglebot, target: "/b", want: blocked},
		}},
		{"a second accident after a change that is meant", []step{
			{userAgent: uaGooglebot, target: "/a", want: allowed},
			{userAgent: uaGooglebot, target: "/b", want: allowed},
			{robots: loose + "Disallow: /b\n", userAgent: uaGooglebot, target: "/b", want: stale},
			{after: 5 * time.Hour, robots: strict, userAgent: uaGooglebot, target: "/a", want: stale},
			{userAgent: uaGooglebot, target: "/b", want: stale},
			{after: time.Hour, userAgent: uaGooglebot, target: "/b", want: blocked}, // the hold has ended
			{userAgent: uaGooglebot, target: "/a", want: stale},
			{after: 5 * time.Hour, userAgent: uaGooglebot, target: "/a", want: blocked},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newGuardedSite(t, loose)
			for i, step := range tc.steps {
				s.now = s.now.Add(step.after)
				if step.robots != "" {
					s.become(step.robots)
				}
				status := step.status
				if status == 0 {
					status = http.StatusOK
				}
				if got := s.visit(step.userAgent, step.target, status); got != step.want {
					t.Errorf("step %d, %s: %s, want %s", i+1, step.target, got, step.want)
				}
			}
		})
	}
}

func TestChangeGuardIsOffByDefault(t *testing.T) {
	s := &guardedSite{changingSite: newChangingSite(t, options{Enforce: true, Grace: -1}, loose)}
	s.hold()
	s.visit(uaGooglebot, "/a", http.StatusOK)
	s.become(strict)
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != blocked {
		t.Errorf("%s, want %s", got, blocked)
	}
	if s.g.state.changeGuard.NumSites(policy.UnknownHosts) != 0 {
		t.Error("visits were remembered for nothing")
	}
}

// TestOnlyVerifiedVisitsCount serves pages to search engines while crawlers are
// verified. Only a verified search engine can make the change guard hold a later
// change.
func TestOnlyVerifiedVisitsCount(t *testing.T) {
	for who, want := range map[verify.State]bool{verify.Verified: true, verify.Claimed: false, verify.Unknown: false, verify.Spoofed: false} {
		s := newGuardedSite(t, loose)
		j := s.g.Judge(requestBy(uaGooglebot, "/a"))
		s.g.Identity.Verifier = verify.New(verify.Options{MaxVerified: 1, MaxOtherResults: 1})
		t.Cleanup(s.g.Identity.Verifier.Close)
		j.Verification, j.Verdict, j.Version = who, judge.Allowed, s.entry.State().Current
		s.g.recordAllowedPage(j)
		if got := s.g.state.changeGuard.FindSite(j.Site.Key) != nil; got != want {
			t.Errorf("%s: the page is remembered: %t, want %t", who, got, want)
		}
	}
}
