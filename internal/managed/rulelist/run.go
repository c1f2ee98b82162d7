package rulelist

import (
	"context"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// Run reads the list again when that is due, until ctx ends, and keeps it in the
// storage of its users.
func (l *List) Run(ctx context.Context) { remote.Run(ctx, l.step) }

// step does what is due, and returns after how long to look again.
func (l *List) step(ctx context.Context) time.Duration {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.restoreLate(ctx) // first: a server may take its time
	if l.rest() <= 0 {
		l.read(ctx)
	}
	if l.isUnseen() { // and what is stored is not replaced
		return min(l.rest(), remote.LookEvery)
	}
	if l.source.IsURL() {
		l.keep(ctx)
	}
	return l.rest()
}

// rest returns how long it is until the list is to be read again.
func (l *List) rest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Sub(l.now())
}
