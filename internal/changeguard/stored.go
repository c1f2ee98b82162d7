package changeguard

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Sites returns the configured sites in c.
func (c *Changes) Sites() []policy.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[policy.Named]; known != nil {
		return known.Keys()
	}
	return nil
}

// Revision returns counters that grow with each change of the holds and of the visits.
func (c *Changes) Revision(key policy.Key) (holds, visits uint64) {
	c.mu.Lock()
	var found *SiteChanges
	if known := c.known[policy.Named]; known != nil {
		found, _ = known.Peek(key)
	}
	c.mu.Unlock()
	if found == nil {
		return 0, 0
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	return found.turned, found.served.News()
}

// Snapshot returns the visits and holds of a configured site for storage. ok is false if there
// are none.
func (c *Changes) Snapshot(key policy.Key) (kept ledger.Changes, ok bool) {
	found := c.Site(key)
	if found == nil {
		return ledger.Changes{}, false
	}
	now := c.now()
	found.mu.Lock()
	defer found.mu.Unlock()
	kept = ledger.Changes{Site: key, Hash: found.hash, Read: found.read, Visits: found.served.Own(now)}
	for _, h := range found.holds {
		if now.Before(h.Until) {
			kept.Holds = append(kept.Holds, ledger.Hold{Version: h.Version.Hash, Since: h.since, Until: h.Until, Visits: h.Visits})
		}
	}
	return kept, len(kept.Visits)+len(kept.Holds) > 0
}

// Restore merges the stored visits and holds of a site, of this or of another instance. All
// instances hold a change until the same time, which the first instance sets. held is the
// number of new holds. complete is false if this instance lacks the version of a hold.
func (c *Changes) Restore(from ledger.Changes, state *policy.State, elsewhere bool) (held int, complete bool) {
	now := c.now()
	found := c.restored(from)
	if found == nil {
		return 0, true // no guard holds changes
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.served.Merge(from.Visits, elsewhere, now)
	complete = true
	for _, h := range from.Holds {
		if !now.Before(h.Until) || h.Since.After(now.Add(clockSkew)) {
			continue
		}
		version := pastVersion(state, h.Version)
		switch {
		case version == nil:
			complete = false
		case h.Since.Before(version.FirstRead):
			// The hold is of an earlier period in which this version was current.
		case found.adopt(Hold{Version: version, Visits: h.Visits, since: h.Since, Until: h.Until}, state.Good):
			held++
		}
	}
	return held, complete
}

// clockSkew is the maximum difference between the clocks of two instances.
const clockSkew = 5 * time.Minute

// restored returns the site to restore into, or nil if there is no guard or no room.
func (c *Changes) restored(from ledger.Changes) *SiteChanges {
	c.mu.Lock()
	guards, known := c.guards.Load(), c.known[policy.Named]
	full := known != nil && known.Len() >= maxChangingNamed && !known.Contains(from.Site)
	c.mu.Unlock()
	if guards == 0 || full {
		return nil
	}
	found := from.Read
	if now := c.now(); found.After(now) {
		found = now // a time in the future, from a wrong clock, would hide all changes until then
	}
	return c.add(from.Site, &policy.Version{Hash: from.Hash, FirstRead: found})
}

// pastVersion returns a previous version, or nil. It does not return the current version,
// because then this instance has not seen the change yet.
func pastVersion(state *policy.State, hash [sha256.Size]byte) *policy.Version {
	if state == nil {
		return nil
	}
	for _, v := range state.Past {
		if v.Hash == hash {
			return v
		}
	}
	return nil
}

// adopt adds a hold and reports whether anything changed. It never extends an existing hold.
func (site *SiteChanges) adopt(h Hold, current *policy.Version) bool {
	for i, known := range site.holds {
		if known.Version.Hash != h.Version.Hash {
			continue
		}
		if !h.Until.Before(known.Until) {
			return false
		}
		known.since, known.Until = h.since, h.Until
		site.holds = slices.Clone(site.holds)
		site.holds[i] = known
		site.turned++
		return true
	}
	if len(site.holds) == maxHolds {
		return false
	}
	site.holds = append(slices.Clip(site.holds), h)
	site.turned++
	site.unchecked = current
	return true
}
