package copies

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

// These are bounds on memory: the number of configured sites and of unknown hosts, each with about
// 20 KB, and the number of holds of one site at the same time.
const (
	maxNamedSites       = 2048
	maxUnknownHostSites = 64
	maxHolds            = 8
)

// ChangeGuard records the pages served to search engines. If a new version of a robots.txt
// disallows such pages, ChangeGuard starts a hold, which keeps the replaced version in force. The
// zero value is empty. It is safe for concurrent use.
type ChangeGuard struct {
	Clock func() time.Time // Clock returns the current time. Nil means time.Now.

	numUsers atomic.Int64 // numUsers is the number of users. It changes only while mu is locked.

	mu    sync.Mutex // This mutex guards sites. Each site has its own mutex.
	sites [2]*simplelru.LRU[policy.Key, *guardedSite]
}

// guardedSite has the served pages and the holds of one robots.txt, see [Hold].
type guardedSite struct {
	mu           sync.Mutex
	servedPages  ledger.VisitedPages
	currentHash  [sha256.Size]byte // currentHash is the hash of the version with which the next version is compared.
	currentSince time.Time         // currentSince is the time at which this version was fetched first.
	holds        []Hold            // The oldest hold comes first. The slice is replaced and never modified.

	revision uint64 // revision is the number of changes of currentHash or holds.
	// uncheckedVersion is the current version if restored holds are not compared with this version
	// yet, else nil.
	uncheckedVersion *policy.Version
}

// Hold keeps a replaced version of a robots.txt in force, because its successor disallows pages
// recently served to search engines.
type Hold struct {
	Version   *policy.Version       // Version is the previous version, which stays in force.
	Visits    []ledger.CrawlerVisit // Visits are the pages that the next version newly disallows.
	startTime time.Time
	End       time.Time // End is the end of the hold, unless it is lifted earlier.
}

func (c *ChangeGuard) now() time.Time {
	if c.Clock != nil {
		return c.Clock()
	}
	return time.Now()
}

// NumSites returns the number of sites that have served pages or holds in c, among the configured
// or the unknown hosts.
func (c *ChangeGuard) NumSites(segment policy.Segment) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sites := c.sites[segment]; sites != nil {
		return sites.Len()
	}
	return 0
}

// AddUser registers a user of c until ctx is done. A user is a guard with the option change_guard,
// or a reader of the served pages. When the last user ends, c drops all its data.
func (c *ChangeGuard) AddUser(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numUsers.Add(1)
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.numUsers.Add(-1) == 0 {
			c.sites = [2]*simplelru.LRU[policy.Key, *guardedSite]{}
		}
	})
}

// FindSite returns the served pages and the holds of a robots.txt, or nil if c has none.
func (c *ChangeGuard) FindSite(key policy.Key) *guardedSite {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sites := c.sites[key.Segment()]; sites != nil {
		site, _ := sites.Get(key)
		return site
	}
	return nil
}

// getOrAddSite returns the served pages and the holds of a robots.txt. If c has none, it adds an
// empty guardedSite whose last compared version is current.
func (c *ChangeGuard) getOrAddSite(key policy.Key, current *policy.Version) *guardedSite {
	c.mu.Lock()
	defer c.mu.Unlock()
	sites := c.sites[key.Segment()]
	if sites == nil {
		maxSites := maxNamedSites
		if key.Segment() == policy.UnknownHosts {
			maxSites = maxUnknownHostSites
		}
		sites, _ = simplelru.NewLRU[policy.Key, *guardedSite](maxSites, nil) // This fails only for sizes below 1.
		c.sites[key.Segment()] = sites
	}
	if site, ok := sites.Get(key); ok {
		return site
	}
	site := &guardedSite{currentHash: current.Hash, currentSince: current.FirstFetched}
	sites.Add(key, site)
	return site
}

// RecordServedPage records that a page was served to a search engine while the given version of the
// robots.txt allowed the page. It sets the time of the visit.
func (c *ChangeGuard) RecordServedPage(key policy.Key, version *policy.Version, visit ledger.CrawlerVisit) {
	site := c.getOrAddSite(key, version)
	visit.At = c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	site.servedPages.Record(visit)
}

// ChangedHolds lists the holds of a site that [ChangeGuard.UpdateHolds] started or ended.
type ChangedHolds struct {
	Started *Hold  // Started is the hold that the change starts, or nil.
	Expired []Hold // Expired are the holds that have ended.
	Lifted  []Hold // Lifted are the holds whose pages are all allowed again.
}

// UpdateHolds compares the current version of a robots.txt with the version compared last, and
// returns the holds. A change that disallows pages recently served to search engines starts a hold,
// which ends after maxHoldTime or when all these pages are allowed again.
//
// Callers call UpdateHolds after each fetch and again before they block a request, so that no
// request is blocked between a change and its hold.
func (c *ChangeGuard) UpdateHolds(key policy.Key, state *policy.State, maxHoldTime time.Duration, keepSlashes bool) (holds []Hold, changes ChangedHolds) {
	site := c.FindSite(key)
	if site == nil || state.Current == nil {
		return nil, ChangedHolds{}
	}
	now := c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	current := state.Current
	// A concurrent request may still have the previous version.
	if current.FirstFetched.After(site.currentSince) {
		if current.Hash != site.currentHash {
			changes = site.updateForVersion(state, now, now.Add(maxHoldTime), keepSlashes)
		}
		site.currentHash, site.currentSince = current.Hash, current.FirstFetched
		site.revision++
	}
	if unchecked := site.uncheckedVersion; unchecked != nil && (current.Hash == unchecked.Hash || current.FirstFetched.After(unchecked.FirstFetched)) {
		site.uncheckedVersion = nil
		changes.Lifted = append(changes.Lifted, site.liftNeedlessHolds(current.Robots, keepSlashes)...)
	}
	site.removeHolds(func(h Hold) bool {
		if now.Before(h.End) {
			return false
		}
		changes.Expired = append(changes.Expired, h)
		return true
	})
	return site.holds, changes
}

// updateForVersion lifts the holds that the current version makes needless. If the current version
// disallows recently served pages, updateForVersion starts a hold of the previous version until the
// given time.
func (site *guardedSite) updateForVersion(state *policy.State, now, until time.Time, keepSlashes bool) (changes ChangedHolds) {
	current := state.Current.Robots
	changes.Lifted = site.liftNeedlessHolds(current, keepSlashes)
	previous := findPreviousVersion(state, site.currentHash)
	if previous == nil {
		return changes
	}
	hold := Hold{Version: previous, startTime: now, End: until}
	recent := site.servedPages.Recent(now)
	for _, i := range judge.FindShutOut(previous.Robots, current, judge.ProtectedSearchTraffic{Pages: ledger.PagesFromVisits(recent), KeepSlashes: keepSlashes}).Pages {
		hold.Visits = append(hold.Visits, recent[i])
	}
	if len(hold.Visits) == 0 {
		return changes
	}
	for _, existing := range site.holds {
		if existing.Version.Hash == previous.Hash {
			return changes // Another instance has started the hold.
		}
	}
	newest := site.holds[max(0, len(site.holds)+1-maxHolds):]
	site.holds = append(newest[:len(newest):len(newest)], hold)
	changes.Started = &hold
	return changes
}

// liftNeedlessHolds removes and returns the holds whose pages are all allowed again by the current
// version.
func (site *guardedSite) liftNeedlessHolds(current *policy.Robots, keepSlashes bool) (lifted []Hold) {
	site.removeHolds(func(h Hold) bool {
		if pages := ledger.PagesFromVisits(h.Visits); slices.ContainsFunc(pages, func(p judge.ServedPage) bool { return p.Forbids(current, keepSlashes) }) {
			return false
		}
		lifted = append(lifted, h)
		return true
	})
	return lifted
}

// removeHolds removes the holds for which isOver returns true.
func (site *guardedSite) removeHolds(isOver func(Hold) bool) {
	var remaining []Hold
	for _, h := range site.holds {
		if !isOver(h) {
			remaining = append(remaining, h)
		}
	}
	if len(remaining) != len(site.holds) {
		site.revision++
	}
	site.holds = remaining
}

// HostsWithHold returns the labels of the sites that have a hold now. See [site.Hosts.Label].
func (c *ChangeGuard) HostsWithHold() map[string]bool {
	c.mu.Lock()
	var sites []*guardedSite
	for _, cache := range c.sites {
		if cache != nil {
			sites = append(sites, cache.Values()...)
		}
	}
	c.mu.Unlock()
	now, hosts := c.now(), make(map[string]bool)
	for _, site := range sites {
		site.mu.Lock()
		for _, h := range site.holds {
			if now.Before(h.End) {
				for _, v := range h.Visits {
					hosts[v.Host] = true
				}
			}
		}
		site.mu.Unlock()
	}
	return hosts
}

// LastHoldEnd returns the time at which the last current hold of a robots.txt ends, or the zero
// time without a hold.
func (c *ChangeGuard) LastHoldEnd(key policy.Key) (until time.Time) {
	site := c.FindSite(key)
	if site == nil {
		return time.Time{}
	}
	now := c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	for _, h := range site.holds {
		if now.Before(h.End) && h.End.After(until) {
			until = h.End
		}
	}
	return until
}

// IsUsed reports whether c has a user, see [ChangeGuard.AddUser].
func (c *ChangeGuard) IsUsed() bool { return c.numUsers.Load() > 0 }

// RecentVisits returns the pages of configured sites recently served to search engines.
func (c *ChangeGuard) RecentVisits() (visits []ledger.CrawlerVisit) {
	now := c.now()
	for _, key := range c.ConfiguredSites() {
		if site := c.FindSite(key); site != nil {
			site.mu.Lock()
			visits = append(visits, site.servedPages.Recent(now)...)
			site.mu.Unlock()
		}
	}
	return visits
}
