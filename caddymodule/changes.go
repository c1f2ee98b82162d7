package caddymodule

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Bounds of what is remembered for the change guard: sites that the
// configuration names and hosts that only clients name, each with some 20 KB,
// and how many changes of one site can be held back at the same time.
const (
	maxChangingNamed    = 2048
	maxChangingInvented = 64
	maxHolds            = 8
)

// changes remembers which pages search engines were served, and which changes
// of a robots.txt are not in force yet since they forbid such pages. The zero
// changes is empty and may be used by several goroutines at once.
type changes struct {
	clock func() time.Time // nil for time.Now

	mu     sync.Mutex // guards what follows; the sites guard themselves
	guards int        // that hold back changes
	sites  [2]*simplelru.LRU[policy.Key, *siteChanges]
}

// siteChanges is what is remembered of one robots.txt.
type siteChanges struct {
	mu     sync.Mutex
	served ledger.Served
	hash   [sha256.Size]byte // the version that was compared last
	read   time.Time         // and when it was found
	holds  []hold            // the oldest first; never modified, only replaced

	turned    uint64 // how often hash or holds have changed
	unchecked bool   // holds were restored and not compared with the current version
}

// hold keeps a version in force that another has replaced.
type hold struct {
	version *policy.Version
	visits  []ledger.Visit // the reason: what the next version newly forbids
	since   time.Time
	until   time.Time
}

// claimOf tells how the crawler of a visit is found in a robots.txt.
func claimOf(v ledger.Visit) judge.Claim {
	known := uaident.Default().Lookup(v.Crawler)
	return judge.Claim{Chain: v.Chain, Wildcard: v.Wildcard, Forgiving: known != nil && known.Forgiving()}
}

func (c *changes) now() time.Time {
	if c.clock != nil {
		return c.clock()
	}
	return time.Now()
}

// guarded notes that a guard holds back changes until ctx ends. Without any
// such guard nothing is held and nothing remembered.
func (c *changes) guarded(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guards++
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.guards--; c.guards == 0 {
			c.sites = [2]*simplelru.LRU[policy.Key, *siteChanges]{}
		}
	})
}

// site returns what is remembered of a robots.txt, nil if that is nothing.
func (c *changes) site(s site) *siteChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.sites[s.segment]; known != nil {
		found, _ := known.Get(s.key)
		return found
	}
	return nil
}

// add is site, but makes what is not there, with the version that is in force.
func (c *changes) add(s site, current *policy.Version) *siteChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.sites[s.segment]
	if known == nil {
		most := maxChangingNamed
		if s.segment == policy.Invented {
			most = maxChangingInvented
		}
		known, _ = simplelru.NewLRU[policy.Key, *siteChanges](most, nil) // fails for sizes below 1 only
		c.sites[s.segment] = known
	}
	if found, ok := known.Get(s.key); ok {
		return found
	}
	made := &siteChanges{hash: current.Hash, read: current.FirstRead}
	known.Add(s.key, made)
	return made
}

// served remembers that a page was served, which version allows.
func (c *changes) served(s site, version *policy.Version, v ledger.Visit) {
	site := c.add(s, version)
	v.At = c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	site.served.Note(v)
}

// holdNews is what has happened to the holds of a site.
type holdNews struct {
	began   *hold
	expired []hold
	lifted  []hold // since nothing of what they are about is forbidden any more
}

// look compares the current version of a robots.txt with the one before, if
// that was not done yet, and returns the holds. A change that forbids what
// search engines were served lately is held for a time.
//
// Whoever needs to know looks, before and after the version is the current one
// for everybody. So no request comes between a change and its hold.
func (c *changes) look(s site, standing *policy.Standing, most time.Duration, keepSlashes bool) (holds []hold, news holdNews) {
	site := c.site(s)
	if site == nil || standing.Good == nil {
		return nil, holdNews{}
	}
	now := c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	good := standing.Good
	// A request that was under way at the change may come with the version
	// before it.
	if good.FirstRead.After(site.read) {
		if good.Hash != site.hash {
			news = site.change(standing, now, now.Add(most), keepSlashes)
		}
		site.hash, site.read = good.Hash, good.FirstRead
		site.turned++
	}
	if site.unchecked {
		site.unchecked = false
		news.lifted = append(news.lifted, site.lift(good.Robots, keepSlashes)...)
	}
	site.drop(func(h hold) bool {
		if now.Before(h.until) {
			return false
		}
		news.expired = append(news.expired, h)
		return true
	})
	return site.holds, news
}

// change takes note of a new version.
func (site *siteChanges) change(standing *policy.Standing, now, until time.Time, keepSlashes bool) (news holdNews) {
	current := standing.Good.Robots
	news.lifted = site.lift(current, keepSlashes)
	before := site.compared(standing.Past)
	if before == nil {
		return news
	}
	h := hold{version: before, since: now, until: until}
	var target policy.Target
	for _, v := range site.served.Recent(now) {
		if forbids(current, v, &target, keepSlashes) && claimOf(v).Verdict(before.Robots, &target).Allowed {
			h.visits = append(h.visits, v)
		}
	}
	if len(h.visits) == 0 {
		return news
	}
	for _, known := range site.holds {
		if known.version.Hash == before.Hash {
			return news // another instance was first, and has begun to count
		}
	}
	kept := site.holds[max(0, len(site.holds)+1-maxHolds):]
	site.holds = append(kept[:len(kept):len(kept)], h)
	news.began = &h
	return news
}

// forbids reports whether a robots.txt forbids a visit, and sets the target.
func forbids(robots *policy.Robots, v ledger.Visit, target *policy.Target, keepSlashes bool) bool {
	target.Set(v.Target, keepSlashes)
	return !claimOf(v).Verdict(robots, target).Allowed
}

// lift ends the holds of which nothing is forbidden any more.
func (site *siteChanges) lift(current *policy.Robots, keepSlashes bool) (lifted []hold) {
	var target policy.Target
	site.drop(func(h hold) bool {
		for _, v := range h.visits {
			if forbids(current, v, &target, keepSlashes) {
				return false
			}
		}
		lifted = append(lifted, h)
		return true
	})
	return lifted
}

// compared returns the version that was compared last.
func (site *siteChanges) compared(past []*policy.Version) *policy.Version {
	for _, v := range past {
		if v.Hash == site.hash {
			return v
		}
	}
	return nil
}

// drop removes the holds that are over.
func (site *siteChanges) drop(over func(hold) bool) {
	var kept []hold
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

// heldHosts returns the configured hosts for which a change is held back.
func (c *changes) heldHosts() map[string]bool {
	c.mu.Lock()
	var all []*siteChanges
	for _, known := range c.sites {
		if known != nil {
			all = append(all, known.Values()...)
		}
	}
	c.mu.Unlock()
	now, hosts := c.now(), make(map[string]bool)
	for _, site := range all {
		site.mu.Lock()
		for _, h := range site.holds {
			if now.Before(h.until) {
				for _, v := range h.visits {
					hosts[v.Host] = true
				}
			}
		}
		site.mu.Unlock()
	}
	return hosts
}
