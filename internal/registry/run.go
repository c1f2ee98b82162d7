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
		f.ask()
		return min(f.rest(), remote.LookEvery)
	}
	f.restoreLate(ctx)
	f.acceptedElsewhere(ctx)
	f.ask()
	if f.isUnseen() { // and what is stored is not replaced
		return min(f.rest(), remote.LookEvery)
	}
	f.keep(ctx)
	return f.rest()
}

// isUnseen reports whether it is not known yet what is stored, since the storage fails.
func (f *Feed) isUnseen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unseen
}

// rest returns how long it is until the registry is to be read again.
func (f *Feed) rest() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next.Sub(f.Now())
}
