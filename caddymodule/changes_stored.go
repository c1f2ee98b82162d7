package caddymodule

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// revision tells whether there is something new to store.
type revision struct {
	turned uint64 // what matters at once
	noted  uint64
}

// stored returns the sites that the configuration names and of which something
// is remembered, with their revisions.
func (c *changes) stored() map[policy.Key]revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[policy.Key]revision)
	known := c.sites[policy.Named]
	if known == nil {
		return all
	}
	for _, key := range known.Keys() {
		site, _ := known.Peek(key)
		site.mu.Lock()
		all[key] = revision{site.turned, site.served.News()}
		site.mu.Unlock()
	}
	return all
}

// snapshot returns what is remembered of a configured site and worth keeping
// when the process ends. ok is false if that is nothing any more.
func (c *changes) snapshot(key policy.Key) (kept ledger.Changes, ok bool) {
	found := c.site(site{key: key, segment: policy.Named})
	if found == nil {
		return ledger.Changes{}, false
	}
	now := c.now()
	found.mu.Lock()
	defer found.mu.Unlock()
	kept = ledger.Changes{Site: key, Hash: found.hash, Read: found.read, Visits: found.served.Own(now)}
	for _, h := range found.holds {
		if now.Before(h.until) {
			kept.Holds = append(kept.Holds, ledger.Hold{Version: h.version.Hash, Since: h.since, Until: h.until, Visits: h.visits})
		}
	}
	return kept, len(kept.Visits)+len(kept.Holds) > 0
}

// restore takes in what was remembered of a site before, or by another
// instance: all of them hold a change back until the same time, which is that
// of the first to notice. complete is false if there is a hold whose version is
// not known here, or not yet.
func (c *changes) restore(from ledger.Changes, standing *policy.Standing, elsewhere bool) (held int, complete bool) {
	now := c.now()
	found := c.restored(from)
	if found == nil {
		return 0, true // nobody holds changes back
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.served.Merge(from.Visits, elsewhere, now)
	complete = true
	for _, h := range from.Holds {
		if !now.Before(h.Until) || h.Since.After(now.Add(notesSkew)) {
			continue
		}
		version := pastVersion(standing, h.Version)
		switch {
		case version == nil:
			complete = false
		case h.Since.Before(version.FirstRead):
			// It is about a change of an earlier time that this version was current.
		case found.adopt(hold{version: version, visits: h.Visits, since: h.Since, until: h.Until}):
			held++
		}
	}
	return held, complete
}

// notesSkew is how far the clocks of two instances may differ.
const notesSkew = 5 * time.Minute

// restored returns the site that something is restored of, nil if there is no
// guard that asks for it or no room.
func (c *changes) restored(from ledger.Changes) *siteChanges {
	c.mu.Lock()
	guards, known := c.guards, c.sites[policy.Named]
	full := known != nil && known.Len() >= maxChangingNamed && !known.Contains(from.Site)
	c.mu.Unlock()
	if guards == 0 || full {
		return nil
	}
	return c.add(site{key: from.Site, segment: policy.Named}, &policy.Version{Hash: from.Hash, FirstRead: from.Read})
}

// pastVersion finds a version before the current one. As long as the one to be
// held is still current here, the change was not noticed here.
func pastVersion(standing *policy.Standing, hash [sha256.Size]byte) *policy.Version {
	if standing == nil {
		return nil
	}
	for _, v := range standing.Past {
		if v.Hash == hash {
			return v
		}
	}
	return nil
}

// adopt takes in a hold, and reports whether it is news. One that is known is
// not prolonged.
func (site *siteChanges) adopt(h hold) bool {
	for i, known := range site.holds {
		if known.version.Hash != h.version.Hash {
			continue
		}
		if !h.until.Before(known.until) {
			return false
		}
		known.since, known.until = h.since, h.until
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
	site.unchecked = true
	return true
}
