package copies

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ConfiguredSites returns the keys of the configured sites that have served pages or holds in c.
func (c *ChangeGuard) ConfiguredSites() []policy.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sites := c.sites[policy.ConfiguredHosts]; sites != nil {
		return sites.Keys()
	}
	return nil
}

// Revisions returns two counters for a configured site. holdRevision increases with each change of
// its holds, and visitRevision with each change of its served pages. Both are 0 for other sites.
func (c *ChangeGuard) Revisions(key policy.Key) (holdRevision, visitRevision uint64) {
	c.mu.Lock()
	var site *guardedSite
	if sites := c.sites[policy.ConfiguredHosts]; sites != nil {
		site, _ = sites.Peek(key)
	}
	c.mu.Unlock()
	if site == nil {
		return 0, 0
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	return site.revision, site.servedPages.Revision()
}

// Snapshot returns the served pages and the holds of a site for storage. ok is false if there are
// none.
func (c *ChangeGuard) Snapshot(key policy.Key) (stored ledger.ChangeGuardState, ok bool) {
	site := c.FindSite(key)
	if site == nil {
		return ledger.ChangeGuardState{}, false
	}
	now := c.now()
	site.mu.Lock()
	defer site.mu.Unlock()
	stored = ledger.ChangeGuardState{Site: key, ComparedVersion: site.currentHash, FetchedAt: site.currentSince, Visits: site.servedPages.OwnVisits(now)}
	for _, h := range site.holds {
		if now.Before(h.End) {
			stored.Holds = append(stored.Holds, ledger.HeldVersion{Version: h.Version.Hash, HeldSince: h.startTime, HeldUntil: h.End, Visits: h.Visits})
		}
	}
	return stored, len(stored.Visits)+len(stored.Holds) > 0
}

// Restore merges the stored pages and holds of a site, from this or, if fromPeer is true, from
// another instance. A hold ends at the same time at all instances, which the first instance sets.
// added is the number of new or shortened holds. complete is false if this instance does not have
// the held version.
func (c *ChangeGuard) Restore(stored ledger.ChangeGuardState, state *policy.State, fromPeer bool) (added int, complete bool) {
	now := c.now()
	site := c.siteForRestore(stored)
	if site == nil {
		return 0, true // No guard uses the change guard, or too many sites are stored.
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	site.servedPages.Merge(stored.Visits, fromPeer, now)
	complete = true
	for _, h := range stored.Holds {
		if !now.Before(h.HeldUntil) || h.HeldSince.After(now.Add(maxClockSkew)) {
			continue
		}
		version := findPreviousVersion(state, h.Version)
		switch {
		case version == nil:
			complete = false
		case h.HeldSince.Before(version.FirstFetched):
			// The hold is from an earlier period with this version as the current version.
		case site.mergeHold(Hold{Version: version, Visits: h.Visits, startTime: h.HeldSince, End: h.HeldUntil}, state.Current):
			added++
		}
	}
	return added, complete
}

// maxClockSkew is the maximum difference between the clocks of two instances.
const maxClockSkew = 5 * time.Minute

// siteForRestore returns the site that receives stored data, and adds the site if necessary.
// siteForRestore returns nil if c has no user or no room for another site.
func (c *ChangeGuard) siteForRestore(stored ledger.ChangeGuardState) *guardedSite {
	c.mu.Lock()
	users, sites := c.numUsers.Load(), c.sites[policy.ConfiguredHosts]
	isFull := sites != nil && sites.Len() >= maxNamedSites && !sites.Contains(stored.Site)
	c.mu.Unlock()
	if users == 0 || isFull {
		return nil
	}
	firstFetch := stored.FetchedAt
	if now := c.now(); firstFetch.After(now) {
		firstFetch = now // A time in the future, from a wrong clock, would hide all changes until then.
	}
	return c.getOrAddSite(stored.Site, &policy.Version{Hash: stored.ComparedVersion, FirstFetched: firstFetch})
}

// findPreviousVersion returns the previous version of a robots.txt with a hash, or nil. It does not
// return the current version, because then this instance has not seen the change yet.
func findPreviousVersion(state *policy.State, hash [sha256.Size]byte) *policy.Version {
	if state == nil {
		return nil
	}
	for _, v := range state.Previous {
		if v.Hash == hash {
			return v
		}
	}
	return nil
}

// mergeHold adds a hold from the storage and reports whether the holds changed. If the version
// already has a hold, mergeHold can only shorten it.
func (site *guardedSite) mergeHold(hold Hold, current *policy.Version) bool {
	for i, existing := range site.holds {
		if existing.Version.Hash != hold.Version.Hash {
			continue
		}
		if !hold.End.Before(existing.End) {
			return false
		}
		existing.startTime, existing.End = hold.startTime, hold.End
		site.holds = slices.Clone(site.holds)
		site.holds[i] = existing
		site.revision++
		return true
	}
	if len(site.holds) == maxHolds {
		return false
	}
	site.holds = append(slices.Clip(site.holds), hold)
	site.revision++
	site.uncheckedVersion = current
	return true
}
