package remote_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// stepper counts how often it has something to do.
type stepper struct {
	steps int
	next  time.Duration
	ended bool
}

func (s *stepper) Run(ctx context.Context) {
	remote.RunPeriodically(ctx, func(context.Context) time.Duration { s.steps++; return s.next })
	s.ended = true
}

// TestRun looks no more often than each second and no more seldom than each minute,
// whatever is due when, and ends.
func TestRun(t *testing.T) {
	for next, want := range map[time.Duration]int{-time.Hour: 60, 10 * time.Second: 6, 24 * time.Hour: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := &stepper{next: next}
			running := remote.StartBackground(s)
			time.Sleep(remote.FileCheckInterval + time.Minute - time.Millisecond)
			synctest.Wait()
			if s.steps != want {
				t.Errorf("%v: %d steps in a minute, want %d", next, s.steps, want)
			}
			if err := running.Destruct(); err != nil || !s.ended {
				t.Errorf("it has ended: %t, %v", s.ended, err)
			}
		})
	}
}

// TestRetry waits longer after each failure, and as long as the server asks for.
func TestRetry(t *testing.T) {
	for _, tc := range []struct {
		failures   int
		life, want time.Duration
	}{
		{0, 0, 5 * time.Second}, {1, 0, 10 * time.Second}, {3, 0, 40 * time.Second}, {0, time.Minute, time.Minute},
		{100, 0, remote.FreshnessLimits.Max}, {0, 24 * time.Hour, remote.FreshnessLimits.Max},
	} {
		if got := remote.RetryDelay(tc.failures, tc.life); got != tc.want {
			t.Errorf("after %d failures, where %v are asked for: %v, want %v", tc.failures, tc.life, got, tc.want)
		}
	}
}

// TestStorage keeps nobody waiting for what is stored.
func TestStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, key := remotetest.NewStorage(), remote.StorageKey("texts", "https://a.test/x")
		if _, err := new(remote.StorageLimiter).Load(t.Context(), s, key); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("where there is nothing: %v", err)
		}
		if err := new(remote.StorageLimiter).Store(t.Context(), s, key, []byte("x")); err != nil {
			t.Error(err)
		}
		if value, err := new(remote.StorageLimiter).Load(t.Context(), s, key); string(value) != "x" || err != nil {
			t.Errorf("%q, %v", value, err)
		}
		s.Hang()
		begin := time.Now()
		if _, err := new(remote.StorageLimiter).Load(t.Context(), s, key); err == nil || time.Since(begin) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		begin = time.Now()
		if err := new(remote.StorageLimiter).Store(t.Context(), s, key, []byte("y")); err == nil || time.Since(begin) > 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		time.Sleep(2 * time.Hour) // it answers at last
	})
}
