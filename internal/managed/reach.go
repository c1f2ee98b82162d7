package managed

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/placement"
)

// probeKey marks the context of requests that ask whether robots_txt is asked.
type probeKey struct{}

// NoteReached takes note that a request for /robots.txt has come to robots_txt, and
// reports whether that is all that it is for.
func NoteReached(ctx context.Context) bool {
	reached, ok := ctx.Value(probeKey{}).(*atomic.Bool)
	if ok {
		reached.Store(true)
		caddyhttp.SetVar(ctx, caddyhttp.LogSkipVar, true)
	}
	return ok
}

// CheckReach looks whether requests for /robots.txt come to the robots_txt handlers
// of a configuration, by a request of its own to each host through all that stands
// before them, and tells of those to which none comes. It does so in the background;
// stop ends it.
func CheckReach(ctx caddy.Context, texts placement.Texts, logger *zap.Logger) (stop func()) {
	hostsOf := func(t placement.Text) (string, []string) { return t.Server, probesOf(t) }
	return origin.AskEach(ctx, texts, hostsOf, func(ctx context.Context, server *caddyhttp.Server, host string, _ placement.Text) {
		reached := new(atomic.Bool)
		answer := origin.Ask(context.WithValue(ctx, probeKey{}, reached), server, host)
		if reached.Load() || ctx.Err() != nil {
			return
		}
		what := fmt.Sprintf("another handler answers it first, with status %d; remove that, or put robots_txt before it, in a route if need be", answer.Status)
		if answer.Status == 0 && answer.Err == nil {
			what = "it stands where only requests for other paths come; move it out of there"
		}
		logger.Warn("robots_txt is never asked for /robots.txt", zap.String("host", host), zap.String("why", what), zap.Error(answer.Err))
	})
}

// probesOf returns a name for each host of a robots_txt, none if other requests may
// come to it than these would.
func probesOf(t placement.Text) []string {
	if t.Chooses {
		return nil
	}
	return placement.ProbeHosts(t.Hosts)
}
