package managed

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/placement"
)

const (
	mostProbed = 100             // hosts of a configuration
	probeWait  = 5 * time.Second // for each
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
	app, err := ctx.AppIfConfigured("http")
	if err != nil || len(texts) == 0 {
		return func() {}
	}
	servers := app.(*caddyhttp.App).Servers
	running, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		left := mostProbed
		for _, t := range texts {
			for _, host := range probesOf(t) {
				if left--; left < 0 || running.Err() != nil {
					return
				}
				probe(running, servers[t.Server], host, logger)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// probesOf returns a name for each host of a robots_txt, none if other requests may
// come to it than these would.
func probesOf(t placement.Text) []string {
	if t.Chooses {
		return nil
	}
	return placement.ProbeHosts(t.Hosts)
}

// probe asks for one robots.txt.
func probe(ctx context.Context, server *caddyhttp.Server, host string, logger *zap.Logger) {
	reached := new(atomic.Bool)
	timed, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	secure := len(server.TLSConnPolicies) > 0
	answer := origin.Ask(context.WithValue(timed, probeKey{}, reached), server, host, secure)
	if reached.Load() || timed.Err() != nil {
		return
	}
	what := fmt.Sprintf("another handler answers it first, with status %d; remove that, or put robots_txt before it, in a route if need be", answer.Status)
	if answer.Status == 0 && answer.Err == nil {
		what = "it stands where only requests for other paths come; move it out of there"
	}
	logger.Warn("robots_txt is never asked for /robots.txt", zap.String("host", host), zap.String("why", what), zap.Error(answer.Err))
}
