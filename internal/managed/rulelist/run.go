package rulelist

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

const (
	retryFirst = 5 * time.Second // after a failure, doubled with each further one
	maxNap     = time.Minute     // the clock may be set
)

// Run reads the list again when that is due, until ctx ends, and keeps it in the
// storage of its users.
func (l *List) Run(ctx context.Context) {
	// A configuration that is only validated has ended by then, and must not change
	// what is stored.
	timer := time.NewTimer(remote.LookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(l.step(ctx))
	}
}

// step does what is due, and returns after how long to look again.
func (l *List) step(ctx context.Context) time.Duration {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.rest() <= 0 {
		l.read(ctx)
	}
	if l.source.IsURL() {
		l.keep(ctx)
	}
	return min(max(l.rest(), time.Second), maxNap)
}

// rest returns how long it is until the list is to be read again.
func (l *List) rest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Sub(l.now())
}

// less returns a time less up to a tenth, so that not all instances come at once.
func less(d time.Duration) time.Duration { return d - rand.N(d/10+1) }
