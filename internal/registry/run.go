package registry

import (
	"context"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// Run reads the registry again when that is due, until ctx ends, and keeps it in the
// storage of its users.
func (f *Feed) Run(ctx context.Context) { remote.Run(ctx, f.step) }

// step does what is due, and returns after how long to look again.
func (f *Feed) step(ctx context.Context) time.Duration {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.rest() <= 0 {
		f.read(ctx, false)
	}
	if f.IsFile() {
		return min(f.rest(), remote.LookEvery)
	}
	f.acceptedElsewhere(ctx)
	f.keep(ctx)
	return f.rest()
}

// rest returns how long it is until the registry is to be read again.
func (f *Feed) rest() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next.Sub(f.Now())
}
