package policy

import (
	"crypto/sha256"
	"sync/atomic"
)

// siteTexts tells which texts the hosts of one configured site have.
type siteTexts struct {
	shared atomic.Pointer[State] // of the only text, nil where there are several
	hosts  map[[sha256.Size]byte]*textHosts
}

// textHosts is a text and how many hosts have it.
type textHosts struct {
	version *Version
	hosts   int
}

// Shared returns a state with the text that all known hosts of a configured
// site have, nil if they have several or none is known. A host of that site of
// which nothing is known yet is best judged by it: clients invent as many hosts
// as they like. It takes no lock and does not allocate.
func (c *Cache) Shared(key Key) *State {
	if key.Source != "" {
		return nil
	}
	if texts, _ := c.sites.Load(key.configured()); texts != nil {
		return texts.shared.Load()
	}
	return nil
}

// noteText takes note that the current version of an entry has changed, once it has; nil
// stands for none. c.mu must be held.
func (c *Cache) noteText(key Key, before, next *State) {
	var old, now *Version
	if before != nil {
		old = before.Good
	}
	if next != nil {
		now = next.Good
	}
	if old == now || old != nil && now != nil && old.Hash == now.Hash {
		return
	}
	defer c.edits.Add(1) // once Shared returns what it is to
	if key.Source != "" {
		return
	}
	site := key.configured()
	texts, _ := c.sites.Load(site)
	if texts == nil {
		texts = &siteTexts{hosts: make(map[[sha256.Size]byte]*textHosts)}
		c.sites.Store(site, texts)
	}
	if old != nil {
		if known := texts.hosts[old.Hash]; known != nil {
			if known.hosts--; known.hosts == 0 {
				delete(texts.hosts, old.Hash)
			}
		}
	}
	if now != nil {
		known := texts.hosts[now.Hash]
		if known == nil {
			known = &textHosts{version: now}
			texts.hosts[now.Hash] = known
		}
		known.hosts++
	}
	texts.shared.Store(nil)
	switch len(texts.hosts) {
	case 0:
		c.sites.Delete(site)
	case 1:
		for _, known := range texts.hosts {
			texts.shared.Store(&State{Good: known.version, Last: Answer{Status: known.version.Status}.Meaning()})
		}
	}
}
