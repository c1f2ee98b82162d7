package guard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestReloadsMakePoliciesDue checks that a reload makes policies due without dropping
// them. It does so at most once per interval, but also after the last of many reloads.
func TestReloadsMakePoliciesDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewState()
		key := policy.Key{Site: "a.test", Host: "a.test"}
		var entries []*policy.Entry
		reads := 0
		read := func() {
			t.Helper()
			for _, e := range entries {
				if done := e.Refresh(policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() policy.FetchResult {
					reads++
					return policy.FetchResult{Status: 200, Body: []byte(strict)}
				}, nil); done != nil {
					<-done
				}
			}
		}
		for _, cache := range []*policy.Cache{s.Cache, s.Bases} {
			entries = append(entries, cache.GetOrCreate(key, policy.ConfiguredHosts))
		}
		read()
		var end context.CancelFunc
		load := func() {
			before := end
			var ctx context.Context
			ctx, end = context.WithCancel(t.Context())
			s.RefetchAll(ctx)
			if before != nil {
				before()
			}
			synctest.Wait()
		}
		expect := func(when string, due bool) {
			t.Helper()
			for _, e := range entries {
				if e.IsDue(time.Now()) != due || e.State().Current == nil {
					t.Errorf("%s: due is %t, want %t, with what is known kept", when, e.IsDue(time.Now()), due)
				}
			}
		}
		expect("before", false)
		load()
		expect("after a reload", true)
		read()
		for range 100 {
			load()
		}
		expect("after many more", false)
		time.Sleep(refetchInterval)
		synctest.Wait()
		expect("an interval later", true)
		read()
		load()
		end()
		time.Sleep(2 * refetchInterval)
		synctest.Wait()
		expect("when the last of them has ended", false)
		if reads != 6 {
			t.Errorf("%d reads of two files, want 6", reads)
		}
	})
}

// TestReloadsReadAgainWhatTheOldConfigurationAnswers checks that a robots.txt from the
// old configuration is fetched again, because the new one may serve a different file.
func TestReloadsReadAgainWhatTheOldConfigurationAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewState()
		e := s.Cache.GetOrCreate(policy.Key{Site: "a.test", Host: "a.test"}, policy.ConfiguredHosts)
		unread := s.Cache.GetOrCreate(policy.Key{Site: "b.test", Host: "b.test"}, policy.ConfiguredHosts)
		read := func() {
			if done := e.Refresh(policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() policy.FetchResult {
				return policy.FetchResult{Status: 200, Body: []byte(strict)}
			}, nil); done != nil {
				<-done
			}
		}
		due := func(when string, want bool) {
			t.Helper()
			synctest.Wait()
			if got := e.IsDue(time.Now()); got != want {
				t.Errorf("%s: due is %t, want %t", when, got, want)
			}
		}
		ctx, end := context.WithCancel(t.Context())
		s.RefetchAll(ctx)
		read()
		time.Sleep(time.Minute)
		next, endNext := context.WithCancel(t.Context())
		s.RefetchAll(next)
		due("when the next is loaded", true)
		read() // by a server of the first configuration
		due("while both serve", false)
		end()
		due("when the first has ended", true)
		if unread.State() != nil {
			t.Error("something is known of what was never read")
		}
		read()
		endNext()
		due("when nothing took the place of what has ended", false)
	})
}

// TestReloadAfterOneThatFailed checks the same if a reload in between failed.
func TestReloadAfterOneThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewState()
		e := s.Cache.GetOrCreate(policy.Key{Site: "a.test", Host: "a.test"}, policy.ConfiguredHosts)
		read := func() {
			if done := e.Refresh(policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() policy.FetchResult {
				return policy.FetchResult{Status: 200, Body: []byte(strict)}
			}, nil); done != nil {
				<-done
			}
		}
		load := func() (end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			s.RefetchAll(ctx)
			return func() { cancel(); synctest.Wait() }
		}
		end := load()
		read()
		time.Sleep(time.Minute)
		load()() // fails
		read()
		time.Sleep(time.Minute)
		defer load()()
		read() // by a server of the first configuration
		end()
		if !e.IsDue(time.Now()) {
			t.Error("what the old configuration answered last is not due")
		}
	})
}
