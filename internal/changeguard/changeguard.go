package changeguard

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds on memory: the number of configured sites and of unknown hosts, each with about
// 20 KB, and the number of holds of one site at the same time.
const (
	maxChangingNamed    = 2048
	maxChangingInvented = 64
	maxHolds            = 8
)

// Changes records the pages that search engines were served, and holds changes of robots.txt
// that disallow such pages. The zero value is empty. Several goroutines may use it at once.
type Changes struct {
	Clock func() time.Time // nil for time.Now

	guards atomic.Int64 // number of users; changed under mu

	mu    sync.Mutex // guards known; each site has its own mutex
	known [2]*simplelru.LRU[policy.Key, *SiteChanges]
}

// SiteChanges has the served pages and the holds of one robots.txt.
type SiteChanges struct {
	mu     sync.Mutex
	served ledger.Served
	hash   [sha256.Size]byte // the version that was compared last
	read   time.Time         // when that version was fetched first
	holds  []Hold            // oldest first; replaced, never modified

	turned    uint64          // number of changes of hash or holds
	unchecked *policy.Version // the current version if restored holds are not compared with it yet, else nil
}

// Hold keeps a replaced version in force.
type Hold struct {
	Version *policy.Version // the version that stays in force
	Visits  []ledger.Visit  // the pages that the next version newly disallows
	since   time.Time
	Until   time.Time // end of the hold, unless it is lifted earlier
}

// PagesOf returns the pages of visits.
func PagesOf(visits []ledger.Visit) []judge.ServedPage {
	pages := make([]judge.ServedPage, len(visits))
	for i := range visits {
		v := &visits[i]
		pages[i] = judge.ServedPage{Crawler: v.Crawler, Chain: v.Chain, Wildcard: v.Wildcard, Target: v.Target}
	}
	return pages
}

func (c *Changes) now() time.Time {
	if c.Clock != nil {
		return c.Clock()
	}
	return time.Now()
}

// Len returns the number of sites.
func (c *Changes) Len(segment policy.Segment) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[segment]; known != nil {
		return known.Len()
	}
	return 0
}

// Guarded registers a user of c until ctx is done: a guard that holds changes, or a reader of
// the served pages. Without a user, c records and holds nothing.
func (c *Changes) Guarded(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guards.Add(1)
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.guards.Add(-1) == 0 {
			c.known = [2]*simplelru.LRU[policy.Key, *SiteChanges]{}
		}
	})
}

// Site returns the changes of a robots.txt, or nil.
func (c *Changes) Site(key policy.Key) *SiteChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[key.Segment()]; known != nil {
		found, _ := known.Get(key)
		return found
	}
	return nil
}

// add returns the changes of a robots.txt. If there are none, it adds them with the current version.
func (c *Changes) add(key policy.Key, current *policy.Version) *SiteChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.known[key.Segment()]
	if known == nil {
		most := maxChangingNamed
		if key.Segment() == policy.Invented {
			most = maxChangingInvented
		}
		known, _ = simplelru.NewLRU[policy.Key, *SiteChanges](most, nil) // fails only for sizes below 1
		c.known[key.Segment()] = known
	}
	if found, ok := known.Get(key); ok {
		return found
	}
	made := &SiteChanges{hash: current.Hash, read: current.FirstRead}
	known.Add(key, made)
	return made
}

// Served records that a page was served while version allowed it.
func (c *Changes) Served(key policy.Key, version *policy.Version, v ledger.Visit) {
	site := c.add(key, version)
	v.At = c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	site.served.Note(v)
}

// News has the changes of the holds of a site.
type News struct {
	Began   *Hold  // the new hold, or nil
	Expired []Hold // holds whose time is over
	Lifted  []Hold // holds whose pages are all allowed again
}

// Look compares a new version of a robots.txt with the previous version and returns the holds.
// A change that disallows pages that search engines were served recently is held for most.
//
// Callers call Look before and after a version becomes the current version, so that no
// request is judged between a change and its hold.
func (c *Changes) Look(key policy.Key, state *policy.State, most time.Duration, keepSlashes bool) (holds []Hold, news News) {
	site := c.Site(key)
	if site == nil || state.Good == nil {
		return nil, News{}
	}
	now := c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	good := state.Good
	// A concurrent request may still have the previous version.
	if good.FirstRead.After(site.read) {
		if good.Hash != site.hash {
			news = site.change(state, now, now.Add(most), keepSlashes)
		}
		site.hash, site.read = good.Hash, good.FirstRead
		site.turned++
	}
	if of := site.unchecked; of != nil && (good.Hash == of.Hash || good.FirstRead.After(of.FirstRead)) {
		site.unchecked = nil
		news.Lifted = append(news.Lifted, site.lift(good.Robots, keepSlashes)...)
	}
	site.drop(func(h Hold) bool {
		if now.Before(h.Until) {
			return false
		}
		news.Expired = append(news.Expired, h)
		return true
	})
	return site.holds, news
}

// change compares a new version and starts a hold if necessary.
func (site *SiteChanges) change(state *policy.State, now, until time.Time, keepSlashes bool) (news News) {
	current := state.Good.Robots
	news.Lifted = site.lift(current, keepSlashes)
	before := site.compared(state.Past)
	if before == nil {
		return news
	}
	h := Hold{Version: before, since: now, Until: until}
	recent := site.served.Recent(now)
	for _, i := range judge.ShutsOutSearch(before.Robots, current, judge.Served{Pages: PagesOf(recent), KeepSlashes: keepSlashes}).Pages {
		h.Visits = append(h.Visits, recent[i])
	}
	if len(h.Visits) == 0 {
		return news
	}
	for _, known := range site.holds {
		if known.Version.Hash == before.Hash {
			return news // another instance has started the hold
		}
	}
	kept := site.holds[max(0, len(site.holds)+1-maxHolds):]
	site.holds = append(kept[:len(kept):len(kept)], h)
	news.Began = &h
	return news
}

// lift removes the holds whose pages are all allowed again.
func (site *SiteChanges) lift(current *policy.Robots, keepSlashes bool) (lifted []Hold) {
	site.drop(func(h Hold) bool {
		if pages := PagesOf(h.Visits); slices.ContainsFunc(pages, func(p judge.ServedPage) bool { return p.Forbids(current, keepSlashes) }) {
			return false
		}
		lifted = append(lifted, h)
		return true
	})
	return lifted
}

// compared returns the version that was compared last.
func (site *SiteChanges) compared(past []*policy.Version) *policy.Version {
	for _, v := range past {
		if v.Hash == site.hash {
			return v
		}
	}
	return nil
}

// drop removes the holds for which over returns true.
func (site *SiteChanges) drop(over func(Hold) bool) {
	var kept []Hold
	for _, h := range site.holds {
		if !over(h) {
			kept = append(kept, h)
		}
	}
	if len(kept) != len(site.holds) {
		site.turned++
	}
	site.holds = kept
}

// HeldHosts returns the configured hosts with a hold.
func (c *Changes) HeldHosts() map[string]bool {
	c.mu.Lock()
	var all []*SiteChanges
	for _, known := range c.known {
		if known != nil {
			all = append(all, known.Values()...)
		}
	}
	c.mu.Unlock()
	now, hosts := c.now(), make(map[string]bool)
	for _, site := range all {
		site.mu.Lock()
		for _, h := range site.holds {
			if now.Before(h.Until) {
				for _, v := range h.Visits {
					hosts[v.Host] = true
				}
			}
		}
		site.mu.Unlock()
	}
	return hosts
}

// HeldUntil returns the end of the last hold of a robots.txt, or the zero time if there is no
// hold.
func (c *Changes) HeldUntil(key policy.Key) (until time.Time) {
	held := c.Site(key)
	if held == nil {
		return time.Time{}
	}
	now := c.now()
	held.mu.Lock()
	defer held.mu.Unlock()
	for _, h := range held.holds {
		if now.Before(h.Until) && h.Until.After(until) {
			until = h.Until
		}
	}
	return until
}
