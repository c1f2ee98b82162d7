package remote

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// This is the delay after the first failure. It doubles with each further failure.
	minRetryDelay = 5 * time.Second
	maxSleep      = time.Minute // The limit allows for changes of the clock.
)

// RunPeriodically calls step repeatedly until ctx ends. step returns the time until its next call.
func RunPeriodically(ctx context.Context, step func(context.Context) time.Duration) {
	// A configuration that is only validated ends before this and must not change the
	// storage.
	timer := time.NewTimer(FileCheckInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(min(max(step(ctx), time.Second), maxSleep))
	}
}

// Jitter returns d shortened by a random amount of up to 10 %, so that instances do not fetch at
// the same time.
func Jitter(d time.Duration) time.Duration { return d - rand.N(d/10+1) }

// RetryDelay returns the wait after a failed fetch of a URL. failures is the number of consecutive
// failures before the failed fetch. lifetime is the freshness lifetime of the error response.
func RetryDelay(failures int, lifetime time.Duration) time.Duration {
	return max(min(minRetryDelay<<min(failures, 10), FreshnessLimits.Max), min(lifetime, FreshnessLimits.Max))
}

// Runner is a background task. Run returns when ctx ends.
type Runner interface{ Run(ctx context.Context) }

// BackgroundRunner runs a Runner in a goroutine until Destruct.
type BackgroundRunner[R Runner] struct {
	Runner R
	cancel context.CancelFunc
	done   chan struct{}
}

// StartBackground starts a goroutine that runs a Runner.
func StartBackground[R Runner](runner R) *BackgroundRunner[R] {
	ctx, cancel := context.WithCancel(context.Background())
	r := &BackgroundRunner[R]{runner, cancel, make(chan struct{})}
	go func() {
		defer close(r.done)
		runner.Run(ctx)
	}()
	return r
}

// Destruct implements caddy.Destructor. Destruct ends the Runner and waits for its end.
func (r *BackgroundRunner[R]) Destruct() error {
	r.cancel()
	<-r.done
	return nil
}
