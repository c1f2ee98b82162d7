package registry

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

// Run reads the registry again when that is due, until ctx ends, and keeps it in the
// storage of its users.
func (f *Feed) Run(ctx context.Context) {
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
		timer.Reset(f.step(ctx))
	}
}

// step does what is due, and returns after how long to look again.
func (f *Feed) step(ctx context.Context) time.Duration {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.rest() <= 0 {
		f.read(ctx, false)
	}
	if f.source.IsURL() {
		f.acceptedElsewhere(ctx)
		f.keep(ctx)
	}
	nap := maxNap
	if f.IsFile() {
		nap = remote.LookEvery
	}
	return min(max(f.rest(), time.Second), nap)
}

// rest returns how long it is until the registry is to be read again.
func (f *Feed) rest() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next.Sub(f.Now())
}

// less returns a time less up to a tenth, so that not all instances come at once.
func less(d time.Duration) time.Duration { return d - rand.N(d/10+1) }
