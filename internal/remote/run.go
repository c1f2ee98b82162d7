package remote

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	retryFirst = 5 * time.Second // after a failure, doubled with each further one
	maxNap     = time.Minute     // the clock may be set
)

// Run calls step until ctx ends, which does what is due and returns after how long there
// is more to do.
func Run(ctx context.Context, step func(context.Context) time.Duration) {
	// A configuration that is only validated has ended by then, and must not change
	// what is stored.
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

// Sooner returns a time less up to a tenth, so that not all instances come at once.
func Sooner(d time.Duration) time.Duration { return d - rand.N(d/10+1) }

// Retry returns after what time a URL is read again that could not be read so many times
// in a row before this one, and whose server says how long its answer lives.
func Retry(failures int, life time.Duration) time.Duration {
	return max(min(retryFirst<<min(failures, 10), Freshness.Max), min(life, Freshness.Max))
}

// LockUntil takes a lock, and reports whether it has it before ctx ends.
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

// Runner is what runs until a context ends.
type Runner interface{ Run(ctx context.Context) }

// Running is a runner that runs until it is destructed.
type Running[R Runner] struct {
	Runner R
	end    context.CancelFunc
	ended  chan struct{}
}

// Begin lets a runner run.
func Begin[R Runner](runner R) *Running[R] {
	ctx, end := context.WithCancel(context.Background())
	r := &Running[R]{runner, end, make(chan struct{})}
	go func() {
		defer close(r.ended)
		runner.Run(ctx)
	}()
	return r
}

// Destruct implements caddy.Destructor. It returns once the runner has ended.
func (r *Running[R]) Destruct() error {
	r.end()
	<-r.ended
	return nil
}
