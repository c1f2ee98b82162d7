package guard

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// expects makes a guard wait for the stored data until the returned function is called.
func (o *scriptedOrigin) expects(t *testing.T) (restored func()) {
	o.g.state.Memory = store.NewMemory(store.Parts{})
	return o.g.state.Memory.AnnounceStore(t.Context())
}

// keeps connects a guard to a storage that responds once the returned function is
// called. If cold is set, the server has just started.
func (o *scriptedOrigin) keeps(t *testing.T, cold bool) (answer func()) {
	state, storage := o.g.state, storetest.New()
	storage.BlockList = make(chan struct{})
	parts := state.storedParts()
	parts.Ledger, parts.Acknowledgements = ledger.New(time.Now), alert.NewManager(state, time.Now)
	state.Memory = store.NewMemory(parts)
	s := store.New(store.Options{Storage: storage, Instance: "first", Memory: state.Memory, Observer: state.Metrics,
		Logger: zap.NewNop(), OnRestored: state.Memory.AnnounceStore(t.Context())})
	go s.Start(t.Context(), cold)
	synctest.Wait()
	return func() { close(storage.BlockList) }
}

// TestWaitsForTheStorage checks that a crawler waits for the stored data as for a first
// copy, because Caddy may accept requests before the data is loaded.
func TestWaitsForTheStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, options{FetchWait: time.Second})
		o.turns(down)
		restored := o.expects(t)
		took := func(userAgent, host string) time.Duration {
			start := time.Now()
			r := requestBy(userAgent, "/private/x")
			r.Host = host
			o.g.Judge(r)
			return time.Since(start)
		}
		if got := took("bingbot/2.0", "a.test"); got != time.Second {
			t.Errorf("a crawler waits %v", got)
		}
		if got := took("curl/8.7.1", "b.test"); got != 0 {
			t.Errorf("a library waits %v", got)
		}
		synctest.Wait()
		o.delay = time.Hour
		if got := took("bingbot/2.0", "c.test"); got != time.Second {
			t.Errorf("for a storage and an origin that hang a crawler waits %v", got)
		}
		time.Sleep(time.Minute) // so that no fetch from the origin is running
		synctest.Wait()
		o.delay = 0
		time.AfterFunc(time.Millisecond, func() {
			key := keyFor(requestBy("", "/"))
			var s policy.State
			s = s.AfterFetch(file(open), time.Now(), policy.FreshnessPolicy{Max: time.Hour, Default: time.Hour}, 0)
			o.g.state.Cache.Restore(key, policy.ConfiguredHosts, s, true)
			restored()
		})
		o.expect("/private/x", judge.Disallowed, judge.Blocked)
	})
}

// TestWaitsForAllOfTheStorage checks that requests at the start wait for the versions
// and for the files that crawlers may be using. The versions are loaded first.
func TestWaitsForAllOfTheStorage(t *testing.T) {
	for _, tc := range []struct {
		name  string
		cold  bool
		waits time.Duration
	}{
		{"at the start", true, 100 * time.Millisecond},
		{"after a reload", false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newScriptedOrigin(t, options{})
				r := requestBy("bingbot/2.0", "/x")
				key := keyFor(r)
				holds := policy.FreshnessPolicy{Max: time.Hour, Default: time.Hour}
				var s policy.State
				for _, robots := range []string{loose, strict} {
					s = s.AfterFetch(file(robots), time.Now(), holds, 0)
					time.Sleep(time.Minute)
				}
				o.g.state.Cache.Restore(key, policy.ConfiguredHosts, s, true)
				answer := o.keeps(t, tc.cold)
				time.AfterFunc(100*time.Millisecond, answer)
				start := time.Now()
				j := o.g.Judge(r)
				if waited := time.Since(start); waited != tc.waits || j.Verdict != judge.Stale {
					t.Errorf("waited %v, %s; want %v, stale", waited, j.Verdict, tc.waits)
				}
				time.Sleep(time.Second)
			})
		})
	}
}

// TestWaitsOnce checks that one limit applies to the waits for the storage and the
// origin together.
func TestWaitsOnce(t *testing.T) {
	for _, tc := range []struct {
		name            string
		storage, origin time.Duration // time until the response
		waits           time.Duration
		verdict         judge.Verdict
	}{
		{"both are quick", 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond, judge.Disallowed},
		{"the origin is slow", 600 * time.Millisecond, 600 * time.Millisecond, time.Second, judge.Unknown},
		{"the storage is slow", 2 * time.Second, time.Millisecond, time.Second, judge.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newScriptedOrigin(t, options{FetchWait: time.Second})
				o.turns(file(strict))
				o.delay = tc.origin
				restored := o.expects(t)
				time.AfterFunc(tc.storage, restored)
				start := time.Now()
				j := o.g.Judge(requestBy("bingbot/2.0", "/x"))
				if waited := time.Since(start); waited != tc.waits || j.Verdict != tc.verdict {
					t.Errorf("waited %v, %s; want %v, %s", waited, j.Verdict, tc.waits, tc.verdict)
				}
				time.Sleep(time.Minute) // let all background work end
			})
		})
	}
}
