package guard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// loads are those of all sites of which guards want to know them. They survive a reload
// with the same thresholds. What they hold is bounded by the configured hosts, see
// [State.Names].
type loads struct {
	now   clock
	tick  func(d time.Duration) <-chan time.Time // time.After but in tests
	ended context.Context                        // with the state
	end   context.CancelFunc
	by    cowmap.Sharded[loadKey, *siteLoad]

	mu    sync.Mutex
	users map[rate.Thresholds][]*Guard // of running configurations
}

// loadKey tells loads apart.
type loadKey struct {
	site string // its label
	rate.Thresholds
}

// siteLoad is the load of a site.
type siteLoad struct {
	*rate.Load
	site string // its label
}

func newLoads(now clock, tick func(time.Duration) <-chan time.Time) *loads {
	l := &loads{now: now, tick: tick, users: make(map[rate.Thresholds][]*Guard)}
	l.ended, l.end = context.WithCancel(context.Background())
	return l
}

// join takes note that a guard wants to know of load.
func (l *loads) join(g *Guard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := g.Rate.Shed.Thresholds
	l.users[of] = append(l.users[of], g)
}

// leave forgets a guard. Where no other goes by the same thresholds load ends there.
func (l *loads) leave(g *Guard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := g.Rate.Shed.Thresholds
	l.users[of] = slices.DeleteFunc(l.users[of], func(other *Guard) bool { return other == g })
	if len(l.users[of]) > 0 {
		return
	}
	delete(l.users, of)
	for key, load := range l.by.All() {
		if key.Thresholds != of {
			continue
		}
		l.by.Delete(key)
		if load.Stop() {
			g.tellSheddingStopped(key.site)
		}
	}
}

// forget forgets the sites that a configuration does not name, but for those whose load is
// yet to be told to have ended.
func (l *loads) forget(named func(label string) bool) {
	for key, load := range l.by.All() {
		if !named(key.site) && !load.Under() {
			l.by.Delete(key)
		}
	}
}

// of returns the load of a site by the thresholds of a guard.
func (l *loads) of(site string, g *Guard) *siteLoad {
	key := loadKey{site, g.Rate.Shed.Thresholds}
	if load, ok := l.by.Load(key); ok {
		return load
	}
	return l.by.LoadOrStore(key, func() *siteLoad { return &siteLoad{rate.NewLoad(key.Thresholds), site} })
}

// hosts returns the sites that are under load.
func (l *loads) hosts() map[string]bool {
	under := make(map[string]bool)
	if l == nil {
		return under // as in tests that look at no load
	}
	for key, load := range l.by.All() {
		if load.Under() {
			under[key.site] = true
		}
	}
	return under
}

// watch ends the load of a site when it is time, also where nothing is asked for any
// more. It ends with the load, or with the state.
func (l *loads) watch(load *siteLoad) {
	for load.Under() {
		select {
		case <-l.ended.Done():
			return
		case <-l.tick(load.Calm / 20):
		}
		if lasted, ended := load.Settle(l.now()); ended {
			if g := l.user(load.site, load.Thresholds); g != nil {
				g.tellSheddingEnded(load.site, lasted)
			}
		}
	}
}

// user returns a guard that goes by the thresholds, the last that has judged for the site
// where one has; nil if there is none.
func (l *loads) user(site string, of rate.Thresholds) (user *Guard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.users[of] {
		if user == nil || g.judgesFor(site) {
			user = g
		}
	}
	return user
}
