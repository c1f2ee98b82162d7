package managed

import (
	"context"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// edition is a schedule with the time since which it is served.
type edition struct {
	schedule *Schedule
	since    time.Time
}

// Serving returns the schedule that requests are answered by.
func (p *Publisher) Serving() *Schedule { return p.serving.Load().schedule }

// Serve puts another schedule in the place of the one that is served. First it makes
// the pages of all sites that were asked for theirs, so that no request waits for
// one. If ctx ends before that all stays as it is. It is called by one at a time.
func (p *Publisher) Serve(ctx context.Context, next *Schedule) {
	e := &edition{next, p.Now()}
	for range 2 { // then those of sites that were asked for the first time meanwhile
		p.eachAsked(ctx, func(site policy.Key) { p.composeAhead(site, e.spotOf(site, p.Now())) })
	}
	if ctx.Err() != nil {
		return
	}
	p.serving.Store(e)
	select {
	case p.changed <- struct{}{}:
	default: // Run will look at this one
	}
	p.forget(ctx, p.Now())
}
