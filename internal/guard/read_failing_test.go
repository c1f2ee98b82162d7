package guard

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestWhileAReadingFails tests a running fetch for which the site then sends
// Retry-After of a day. Blocks of crawlers do not shorten that time, because they were
// served no file. A client that is served a different file does.
func TestWhileAReadingFails(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(s *changingSite)
		want      judge.Verdict
		reads     int32
	}{
		"a crawler is blocked": {func(s *changingSite) { s.g.Judge(requestBy("GPTBot/1.2", "/x")) }, judge.Disallowed, 2},
		"somebody is served":   {func(s *changingSite) { s.reads(requestBy(uaFirefox, "/robots.txt"), loose) }, judge.Allowed, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var phase atomic.Int32
				source := &scriptedSource{answer: func(context.Context) policy.FetchResult {
					switch phase.Load() {
					case 0:
						return policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}
					case 1:
						time.Sleep(2 * time.Second)
						return policy.FetchResult{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"86400"}}}
					}
					return policy.FetchResult{Status: http.StatusOK, Body: []byte(loose)}
				}}
				s := &changingSite{t: t, g: testGuard(t, options{Enforce: true}, source)}
				s.g.Judge(requestBy("bingbot/2.0", "/x"))
				time.Sleep(time.Hour)
				phase.Store(1)
				go s.g.Judge(requestBy("bingbot/2.0", "/x"))
				time.Sleep(time.Second)
				go tc.meanwhile(s)
				time.Sleep(5 * time.Second)
				phase.Store(2)
				for range 10 {
					time.Sleep(time.Minute)
					s.g.Judge(requestBy("bingbot/2.0", "/x"))
				}
				synctest.Wait()
				if j := s.g.Judge(requestBy("bingbot/2.0", "/x")); j.Verdict != tc.want || source.reads.Load() != tc.reads {
					t.Errorf("%s after %d readings, want %s after %d", j.Verdict, source.reads.Load(), tc.want, tc.reads)
				}
			})
		})
	}
}
