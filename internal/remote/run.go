package remote

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	retryFirst = 5 * time.Second // after a failure, doubled with each further failure
	maxNap     = time.Minute     // for changes of the clock
)

// Run calls step repeatedly until ctx ends. step returns the time until the next call.
func Run(ctx context.Context, step func(context.Context) time.Duration) {
	// A configuration that is only validated ends before this and must not change the
	// storage.
	timer := time.NewTimer(LookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(min(max(step(ctx), time.Second), maxNap))
	}
}

// Sooner shortens d by a random amount up to 10 %, so that instances do not fetch at the same
// time.
func Sooner(d time.Duration) time.Duration { return d - rand.N(d/10+1) }

// Retry returns the wait before the next fetch of a URL. failures is the number of earlier
// consecutive failures, and life the lifetime of the error response.
func Retry(failures int, life time.Duration) time.Duration {
	return max(min(retryFirst<<min(failures, 10), Freshness.Max), min(life, Freshness.Max))
}

// LockUntil locks mu and reports whether that succeeded before ctx ended.
func LockUntil(ctx context.Context, mu *sync.Mutex) bool {
	const again = 10 * time.Millisecond
	for !mu.TryLock() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(again):
		}
	}
	return true
}

// Runner has a Run method that returns when its context ends.
type Runner interface{ Run(ctx context.Context) }

// Running is a Runner in a goroutine of its own. Destruct ends it.
type Running[R Runner] struct {
	Runner R
	end    context.CancelFunc
	ended  chan struct{}
}

// Begin starts a Runner.
func Begin[R Runner](runner R) *Running[R] {
	ctx, end := context.WithCancel(context.Background())
	r := &Running[R]{runner, end, make(chan struct{})}
	go func() {
		defer close(r.ended)
		runner.Run(ctx)
	}()
	return r
}

// Destruct implements caddy.Destructor. It waits for the end of the Runner.
func (r *Running[R]) Destruct() error {
	r.end()
	<-r.ended
	return nil
}
