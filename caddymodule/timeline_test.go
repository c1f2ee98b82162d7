package caddymodule

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// scriptedOrigin is an origin in a bubble of testing/synctest, where the clock
// moves as fast as the test lets it.
type scriptedOrigin struct {
	*scriptedSource
	t      *testing.T
	g      *guard
	answer policy.Answer
	delay  time.Duration
	start  time.Time
}

// newScriptedOrigin is called in a bubble.
func newScriptedOrigin(t *testing.T, h Handler) *scriptedOrigin {
	o := &scriptedOrigin{t: t, start: time.Now()}
	o.scriptedSource = &scriptedSource{answer: func(ctx context.Context) policy.Answer {
		answer := o.answer
		select {
		case <-time.After(o.delay):
			return answer
		case <-ctx.Done():
			return policy.Answer{Err: context.Cause(ctx)}
		}
	}}
	h.Mode = modeEnforce
	o.g = testGuard(t, h, o.scriptedSource)
	return o
}

// turns makes the origin answer otherwise from now on.
func (o *scriptedOrigin) turns(answer policy.Answer) {
	synctest.Wait() // for who is asking it just now
	o.answer = answer
}

// until lets time pass until so long after the start. Requests come all the time.
func (o *scriptedOrigin) until(at, every time.Duration) {
	for left := at - time.Since(o.start); left > 0; left = at - time.Since(o.start) {
		o.g.judge(request("bingbot/2.0", "/"))
		time.Sleep(min(every, left))
	}
}

// expect asks as a crawler and compares the verdict. What the request causes is
// done when it returns.
func (o *scriptedOrigin) expect(target string, want verdict, act action) {
	o.t.Helper()
	j := o.g.judge(request("bingbot/2.0", target))
	synctest.Wait()
	if j.verdict != want || j.action != act {
		o.t.Errorf("after %v: %s is %s, %s; want %s, %s", time.Since(o.start), target, j.verdict, j.action, want, act)
	}
}

func text(s string) policy.Answer {
	return policy.Answer{Status: http.StatusOK, Body: []byte(s)}
}

var (
	down = policy.Answer{Err: errors.New("connection refused")}
	none = policy.Answer{Status: http.StatusNotFound}
)

// TestTimelineOfVerdicts has a site whose origin is down for two months, a day
// after its file was read first.
func TestTimelineOfVerdicts(t *testing.T) {
	const day = 24 * time.Hour
	for choice, want := range map[string]map[time.Duration]struct {
		verdict verdict
		action  action
	}{
		unreachableLastGood: {
			47 * time.Hour: {verdictDisallowed, actionBlocked},
			30 * day:       {verdictDisallowed, actionBlocked},
			32 * day:       {verdictUnknown, actionNone},
		},
		unreachableAllow: {
			47 * time.Hour: {verdictDisallowed, actionBlocked},
			49 * time.Hour: {verdictUnknown, actionNone},
		},
		unreachableDisallow: {
			47 * time.Hour: {verdictDisallowed, actionBlocked},
			49 * time.Hour: {verdictUnknown, actionBlocked},
			30 * day:       {verdictUnknown, actionBlocked},
			32 * day:       {verdictUnknown, actionNone},
		},
		unreachableGoogle: {
			47 * time.Hour: {verdictDisallowed, actionBlocked},
			30 * day:       {verdictDisallowed, actionBlocked},
			32 * day:       {verdictUnknown, actionNone},
		},
	} {
		for at, now := range want {
			t.Run(choice+" after "+at.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := newScriptedOrigin(t, Handler{Unreachable: choice})
					o.turns(text(loose))
					o.until(day, 10*time.Minute)
					o.turns(down)
					o.until(at, time.Hour)
					o.expect("/private/x", now.verdict, now.action)
					// It is back: what it says now holds, within the longest back-off.
					o.turns(none)
					o.until(at+10*time.Minute, time.Minute)
					o.expect("/private/x", verdictAllowed, actionNone)
				})
			})
		}
	}
}

// TestTimelineOfAChange has a file that forbids more from the tenth hour on. A
// crawler that does not read it may follow the old one for a day.
func TestTimelineOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, Handler{})
		o.turns(text(loose))
		o.until(10*time.Hour, time.Minute)
		o.expect("/x", verdictAllowed, actionNone)
		o.turns(text(strict))
		o.until(10*time.Hour+11*time.Minute, time.Minute)
		o.expect("/x", verdictStale, actionNone)
		o.expect("/private/x", verdictDisallowed, actionBlocked)
		o.until(33*time.Hour+59*time.Minute, time.Minute)
		o.expect("/x", verdictStale, actionNone)
		o.until(34*time.Hour+11*time.Minute, time.Minute)
		o.expect("/x", verdictDisallowed, actionBlocked)
		// Loosened again: nobody has to wait for that.
		o.turns(text(loose))
		o.until(34*time.Hour+22*time.Minute, time.Minute)
		o.expect("/x", verdictAllowed, actionNone)
	})
}

// TestTimelineOfAChangeDuringAnOutage has a copy of a week ago when the origin
// comes back with another file: the day of grace begins then.
func TestTimelineOfAChangeDuringAnOutage(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, Handler{})
		o.turns(text(loose))
		o.until(time.Hour, time.Minute)
		o.turns(down)
		o.until(8*day, time.Minute)
		o.expect("/x", verdictAllowed, actionNone)
		o.turns(text(strict))
		o.until(8*day+10*time.Minute, time.Minute) // a back-off and some jitter
		o.expect("/x", verdictStale, actionNone)
		o.until(9*day+10*time.Minute, time.Minute)
		o.expect("/x", verdictDisallowed, actionBlocked)
	})
}

// TestTimelineOfAnIdleSite has a site that nobody visits for three weeks. The
// first crawler waits for the new file, but not for long.
func TestTimelineOfAnIdleSite(t *testing.T) {
	for _, tc := range []struct {
		name    string
		idle    time.Duration
		delay   time.Duration
		answer  policy.Answer
		verdict verdict // of the first request
		then    verdict // of one a minute later
		waited  time.Duration
	}{
		{"a quick origin", 3 * 7 * 24 * time.Hour, 50 * time.Millisecond, text(strict), verdictStale, verdictStale, 50 * time.Millisecond},
		{"a slow origin", 3 * 7 * 24 * time.Hour, 2 * time.Second, text(strict), verdictAllowed, verdictStale, 250 * time.Millisecond},
		{"an origin that hangs", 3 * 7 * 24 * time.Hour, time.Hour, text(strict), verdictAllowed, verdictAllowed, 250 * time.Millisecond},
		{"an origin that is gone", 3 * 7 * 24 * time.Hour, 0, down, verdictAllowed, verdictAllowed, 0},
		{"less than a day: nobody waits", 23 * time.Hour, 50 * time.Millisecond, text(strict), verdictAllowed, verdictStale, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newScriptedOrigin(t, Handler{})
				o.turns(text(loose))
				o.g.judge(request("bingbot/2.0", "/"))
				time.Sleep(tc.idle)
				o.turns(tc.answer)
				o.delay = tc.delay
				before := time.Now()
				j := o.g.judge(request("bingbot/2.0", "/x"))
				if waited := time.Since(before); waited != tc.waited {
					t.Errorf("waited for %v, want %v", waited, tc.waited)
				}
				if j.verdict != tc.verdict {
					t.Errorf("%s, want %s", j.verdict, tc.verdict)
				}
				time.Sleep(time.Minute)
				o.expect("/x", tc.then, actionNone)
				time.Sleep(2 * time.Hour) // whatever hangs ends
			})
		})
	}
}

// TestTimelineNobodyWaitsForARefresh has an origin that takes four seconds. In a
// week of requests only the first crawler waits.
func TestTimelineNobodyWaitsForARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, Handler{FetchWait: caddy.Duration(5 * time.Second)})
		o.turns(text(loose))
		o.delay = 4 * time.Second
		o.expect("/private/x", verdictDisallowed, actionBlocked)
		for range 7 * 24 * 60 {
			before := time.Now()
			if o.g.judge(request("bingbot/2.0", "/x")); time.Since(before) != 0 {
				t.Fatalf("after %v a request waited for %v", time.Since(o.start), time.Since(before))
			}
			time.Sleep(time.Minute)
		}
		if n := o.reads.Load(); n < 900 || n > 1130 {
			t.Errorf("%d readings in a week, want one in ten minutes", n)
		}
	})
}
