package guard

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestFileReadAgainBeforeABlock tests a robots.txt on disk that the owner opens.
// Reading the file is cheap, so an outdated copy blocks for at most ten seconds.
func TestFileReadAgainBeforeABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, reads := strict, 0
		g := testGuard(t, options{Enforce: true, SourceKey: "/srv/robots.txt"}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
			reads++
			return policy.FetchResult{Status: http.StatusOK, Body: []byte(text), Header: http.Header{}}
		}})
		for i, tc := range []struct {
			after time.Duration
			text  string
			want  judge.Verdict
			reads int
		}{
			{0, strict, judge.Disallowed, 1},
			{5 * time.Second, strict, judge.Disallowed, 1},
			{6 * time.Second, strict, judge.Disallowed, 2},
			{11 * time.Second, loose, judge.Allowed, 3},
			{11 * time.Second, strict, judge.Allowed, 3},
		} {
			time.Sleep(tc.after)
			text = tc.text
			j := g.Judge(requestBy("bingbot/2.0", "/x"))
			if synctest.Wait(); j.Verdict != tc.want || reads != tc.reads {
				t.Errorf("%d: %s, read %d times, want %s and %d", i, j.Verdict, reads, tc.want, tc.reads)
			}
		}
	})
}
