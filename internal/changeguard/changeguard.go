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

// Bounds of what is remembered for the change guard: sites that the
// configuration names and hosts that only clients name, each with some 20 KB,
// and how many changes of one site can be held back at the same time.
const (
	maxChangingNamed    = 2048
	maxChangingInvented = 64
	maxHolds            = 8
)

// Changes remembers which pages search engines were served, and which changes
// of a robots.txt are not in force yet since they forbid such pages. The zero
// Changes is empty and may be used by several goroutines at once.
type Changes struct {
	Clock func() time.Time // nil for time.Now

	guards atomic.Int64 // who needs to know; changed under mu

	mu    sync.Mutex // guards what follows; the sites guard themselves
	known [2]*simplelru.LRU[policy.Key, *SiteChanges]
}

// SiteChanges is what is remembered of one robots.txt.
type SiteChanges struct {
	mu     sync.Mutex
	served ledger.Served
	hash   [sha256.Size]byte // the version that was compared last
	read   time.Time         // and when it was found
	holds  []Hold            // the oldest first; never modified, only replaced

	turned    uint64          // how often hash or holds have changed
	unchecked *policy.Version // the current version when holds were restored that were not compared with it yet, nil for none
}

// Hold keeps a version in force that another has replaced.
type Hold struct {
	Version *policy.Version // the one that stays in force
	Visits  []ledger.Visit  // the reason: what the next version newly forbids
	since   time.Time
	Until   time.Time // the end, if nothing lifts it before
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

// Len returns of how many sites something is remembered.
func (c *Changes) Len(segment policy.Segment) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[segment]; known != nil {
		return known.Len()
	}
	return 0
}

// Guarded says that a guard holds back changes until ctx ends, or that somebody else
// needs to know what was served. Without any such nothing is held and nothing
// remembered.
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

// Site returns what is remembered of a robots.txt, nil if that is nothing.
func (c *Changes) Site(key policy.Key) *SiteChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[key.Segment()]; known != nil {
		found, _ := known.Get(key)
		return found
	}
	return nil
}

// add is Site, but makes what is not there, with the version that is in force.
func (c *Changes) add(key policy.Key, current *policy.Version) *SiteChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.known[key.Segment()]
	if known == nil {
		most := maxChangingNamed
		if key.Segment() == policy.Invented {
			most = maxChangingInvented
		}
		known, _ = simplelru.NewLRU[policy.Key, *SiteChanges](most, nil) // fails for sizes below 1 only
		c.known[key.Segment()] = known
	}
	if found, ok := known.Get(key); ok {
		return found
	}
	made := &SiteChanges{hash: current.Hash, read: current.FirstRead}
	known.Add(key, made)
	return made
}

// Served remembers that a page was served, which version allows.
func (c *Changes) Served(key policy.Key, version *policy.Version, v ledger.Visit) {
	site := c.add(key, version)
	v.At = c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	site.served.Note(v)
}

// News is what has happened to the holds of a site.
type News struct {
	Began   *Hold  // nil if none has
	Expired []Hold // since their time is over
	Lifted  []Hold // since nothing of what they are about is forbidden any more
}

// Look compares the current version of a robots.txt with the one before, if
// that was not done yet, and returns the holds. A change that forbids what
// search engines were served lately is held for a time.
//
// Whoever needs to know looks, before and after the version is the current one
// for everybody. So no request comes between a change and its hold.
func (c *Changes) Look(key policy.Key, state *policy.State, most time.Duration, keepSlashes bool) (holds []Hold, news News) {
	site := c.Site(key)
	if site == nil || state.Good == nil {
		return nil, News{}
	}
	now := c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	good := state.Good
	// A request that was under way at the change may come with the version
	// before it.
	if good.FirstRead.After(site.read) {
		if good.Hash != site.hash {
			news = site.change(state, now, now.Add(most), keepSlashes)
		}
		site.hash, site.read = good.Hash, good.FirstRead
		site.turned++
	}
	if of := site.unchecked; of != nil && (good.Hash == of.Hash || good.FirstRead.After(of.FirstRead)) { // and not by one before it
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

// change takes note of a new version.
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
			return news // another instance was first, and has begun to count
		}
	}
	kept := site.holds[max(0, len(site.holds)+1-maxHolds):]
	site.holds = append(kept[:len(kept):len(kept)], h)
	news.Began = &h
	return news
}

// lift ends the holds of which nothing is forbidden any more.
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

// drop removes the holds that are over.
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

// HeldHosts returns the configured hosts for which a change is held back.
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

// HeldUntil returns until when a change of a robots.txt is held back, the zero
// time if none is.
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
