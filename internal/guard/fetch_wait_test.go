package guard

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestWhoWaitsForTheFirstCopy(t *testing.T) {
	for _, tc := range []struct {
		name, userAgent string
		reads           int32
		waits           time.Duration
	}{
		{"a crawler", "bingbot/2.0", 1, 250 * time.Millisecond},
		{"a library", "curl/8.7.1", 1, 0},
		{"a browser", uaChrome, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				s := &scriptedSource{answer: func(context.Context) policy.FetchResult {
					<-release
					return policy.FetchResult{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n")}
				}}
				g := testGuard(t, options{Enforce: true}, s)
				start := time.Now()
				j := g.Judge(requestBy(tc.userAgent, "/x"))
				if waited := time.Since(start); waited != tc.waits {
					t.Errorf("waited %v, want %v", waited, tc.waits)
				}
				if j != nil && (j.Verdict != judge.Unknown || j.Action != judge.NoAction) {
					t.Errorf("%s, %s; want unknown and none while nothing is known", j.Verdict, j.Action)
				}
				close(release)
				synctest.Wait()
				if got := s.reads.Load(); got != tc.reads {
					t.Errorf("%d reads, want %d", got, tc.reads)
				}
			})
		})
	}
}

func TestAReadIsEndedWhenItTakesTooLong(t *testing.T) {
	s := &scriptedSource{answer: func(ctx context.Context) policy.FetchResult {
		<-ctx.Done()
		if _, ok := ctx.Deadline(); ok {
			t.Error("the context has a deadline")
		}
		return policy.FetchResult{Err: context.Cause(ctx)}
	}}
	g := testGuard(t, options{FetchTimeout: 20 * time.Millisecond, FetchWait: 20 * time.Millisecond}, s)
	r := requestBy("bingbot/2.0", "/x")
	g.Judge(r)
	key := keyFor(r)
	for entry := g.state.Cache.Get(key); ; time.Sleep(time.Millisecond) {
		if state := entry.State(); state != nil {
			if !errors.Is(state.LastErr, site.ErrFetchTimeout) {
				t.Errorf("error = %v", state.LastErr)
			}
			return
		}
	}
}
