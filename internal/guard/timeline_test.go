package guard

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// scriptedOrigin is an origin in a testing/synctest bubble with a fake clock.
type scriptedOrigin struct {
	*scriptedSource
	t      *testing.T
	g      *Guard
	answer policy.FetchResult
	delay  time.Duration
	start  time.Time
}

// newScriptedOrigin must be called in a synctest bubble.
func newScriptedOrigin(t *testing.T, h options) *scriptedOrigin {
	o := &scriptedOrigin{t: t, start: time.Now()}
	o.scriptedSource = &scriptedSource{answer: func(ctx context.Context) policy.FetchResult {
		answer := o.answer
		select {
		case <-time.After(o.delay):
			return answer
		case <-ctx.Done():
			return policy.FetchResult{Err: context.Cause(ctx)}
		}
	}}
	h.Enforce = true
	o.g = testGuard(t, h, o.scriptedSource)
	return o
}

// turns changes the response of the origin.
func (o *scriptedOrigin) turns(answer policy.FetchResult) {
	synctest.Wait() // for running fetches
	o.answer = answer
}

// until advances the clock to the given time after the start, and sends requests at the
// given interval.
func (o *scriptedOrigin) until(at, every time.Duration) {
	for left := at - time.Since(o.start); left > 0; left = at - time.Since(o.start) {
		o.g.Judge(requestBy("bingbot/2.0", "/"))
		time.Sleep(min(every, left))
	}
}

// expect compares the verdict for a crawler's request. It returns after all background
// work.
func (o *scriptedOrigin) expect(target string, want judge.Verdict, act judge.Action) {
	o.t.Helper()
	j := o.g.Judge(requestBy("bingbot/2.0", target))
	synctest.Wait()
	if j.Verdict != want || j.Action != act {
		o.t.Errorf("after %v: %s is %s, %s; want %s, %s", time.Since(o.start), target, j.Verdict, j.Action, want, act)
	}
}

func file(s string) policy.FetchResult {
	return policy.FetchResult{Status: http.StatusOK, Body: []byte(s)}
}

var (
	down = policy.FetchResult{Err: errors.New("connection refused")}
	none = policy.FetchResult{Status: http.StatusNotFound}
)

// TestTimelineOfVerdicts tests an origin that is down for two months, from a day after
// the first fetch on.
func TestTimelineOfVerdicts(t *testing.T) {
	const day = 24 * time.Hour
	for choice, want := range map[policy.Fallback]map[time.Duration]struct {
		verdict judge.Verdict
		action  judge.Action
	}{
		policy.LastGood: {
			47 * time.Hour: {judge.Disallowed, judge.Blocked},
			30 * day:       {judge.Disallowed, judge.Blocked},
			32 * day:       {judge.Unknown, judge.NoAction},
		},
		policy.AllowAll: {
			47 * time.Hour: {judge.Disallowed, judge.Blocked},
			49 * time.Hour: {judge.Unknown, judge.NoAction},
		},
		policy.DisallowAll: {
			47 * time.Hour: {judge.Disallowed, judge.Blocked},
			49 * time.Hour: {judge.Unknown, judge.Blocked},
			30 * day:       {judge.Unknown, judge.Blocked},
			32 * day:       {judge.Unknown, judge.NoAction},
		},
		policy.DisallowLikeGoogle: {
			47 * time.Hour: {judge.Disallowed, judge.Blocked},
			30 * day:       {judge.Disallowed, judge.Blocked},
			32 * day:       {judge.Unknown, judge.NoAction},
		},
	} {
		for at, now := range want {
			t.Run([]string{"last_good", "allow", "disallow", "disallow_google"}[choice]+" after "+at.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := newScriptedOrigin(t, options{Unreachable: choice})
					o.turns(file(loose))
					o.until(day, 10*time.Minute)
					o.turns(down)
					o.until(at, time.Hour)
					o.expect("/private/x", now.verdict, now.action)
					// The origin is back. Its file applies within the longest back-off.
					o.turns(none)
					o.until(at+10*time.Minute, time.Minute)
					o.expect("/private/x", judge.Allowed, judge.NoAction)
				})
			})
		}
	}
}

// TestTimelineOfAChange tests a file that disallows more from the tenth hour on. A
// crawler that does not refetch it may obey the old file for a day.
func TestTimelineOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, options{})
		o.turns(file(loose))
		o.until(10*time.Hour, time.Minute)
		o.expect("/x", judge.Allowed, judge.NoAction)
		o.turns(file(strict))
		o.until(10*time.Hour+11*time.Minute, time.Minute)
		o.expect("/x", judge.Stale, judge.NoAction)
		o.expect("/private/x", judge.Disallowed, judge.Blocked)
		o.until(33*time.Hour+59*time.Minute, time.Minute)
		o.expect("/x", judge.Stale, judge.NoAction)
		o.until(34*time.Hour+11*time.Minute, time.Minute)
		o.expect("/x", judge.Disallowed, judge.Blocked)
		// The file is loosened again, which takes effect at once.
		o.turns(file(loose))
		o.until(34*time.Hour+22*time.Minute, time.Minute)
		o.expect("/x", judge.Allowed, judge.NoAction)
	})
}

// TestTimelineOfAChangeDuringAnOutage tests an origin that comes back with a different
// file when the copy is a week old. The grace of a day begins then.
func TestTimelineOfAChangeDuringAnOutage(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, options{})
		o.turns(file(loose))
		o.until(time.Hour, time.Minute)
		o.turns(down)
		o.until(8*day, time.Minute)
		o.expect("/x", judge.Allowed, judge.NoAction)
		o.turns(file(strict))
		o.until(8*day+10*time.Minute, time.Minute) // a back-off plus jitter
		o.expect("/x", judge.Stale, judge.NoAction)
		o.until(9*day+10*time.Minute, time.Minute)
		o.expect("/x", judge.Disallowed, judge.Blocked)
	})
}

// TestTimelineOfAnIdleSite tests a site without requests for three weeks. The first
// crawler waits for the new file, but only for a limited time.
func TestTimelineOfAnIdleSite(t *testing.T) {
	for _, tc := range []struct {
		name    string
		idle    time.Duration
		delay   time.Duration
		answer  policy.FetchResult
		verdict judge.Verdict // of the first request
		then    judge.Verdict // of a request a minute later
		waited  time.Duration
	}{
		{"a quick origin", 3 * 7 * 24 * time.Hour, 50 * time.Millisecond, file(strict), judge.Stale, judge.Stale, 50 * time.Millisecond},
		{"a slow origin", 3 * 7 * 24 * time.Hour, 2 * time.Second, file(strict), judge.Allowed, judge.Stale, 250 * time.Millisecond},
		{"an origin that hangs", 3 * 7 * 24 * time.Hour, time.Hour, file(strict), judge.Allowed, judge.Allowed, 250 * time.Millisecond},
		{"an origin that is gone", 3 * 7 * 24 * time.Hour, 0, down, judge.Allowed, judge.Allowed, 0},
		{"less than a day: nobody waits", 23 * time.Hour, 50 * time.Millisecond, file(strict), judge.Allowed, judge.Stale, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newScriptedOrigin(t, options{})
				o.turns(file(loose))
				o.g.Judge(requestBy("bingbot/2.0", "/"))
				time.Sleep(tc.idle)
				o.turns(tc.answer)
				o.delay = tc.delay
				before := time.Now()
				j := o.g.Judge(requestBy("bingbot/2.0", "/x"))
				if waited := time.Since(before); waited != tc.waited {
					t.Errorf("waited for %v, want %v", waited, tc.waited)
				}
				if j.Verdict != tc.verdict {
					t.Errorf("%s, want %s", j.Verdict, tc.verdict)
				}
				time.Sleep(time.Minute)
				o.expect("/x", tc.then, judge.NoAction)
				time.Sleep(2 * time.Hour) // let hanging fetches end
			})
		})
	}
}

// TestTimelineNobodyWaitsForARefresh tests an origin that takes four seconds. In a week
// of requests only the first request waits.
func TestTimelineNobodyWaitsForARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, options{FetchWait: 5 * time.Second})
		o.turns(file(loose))
		o.delay = 4 * time.Second
		o.expect("/private/x", judge.Disallowed, judge.Blocked)
		for range 7 * 24 * 60 {
			before := time.Now()
			if o.g.Judge(requestBy("bingbot/2.0", "/x")); time.Since(before) != 0 {
				t.Fatalf("after %v a request waited for %v", time.Since(o.start), time.Since(before))
			}
			time.Sleep(time.Minute)
		}
		if n := o.reads.Load(); n < 900 || n > 1130 {
			t.Errorf("%d readings in a week, want one in ten minutes", n)
		}
	})
}
