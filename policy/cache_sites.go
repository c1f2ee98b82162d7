package policy

import (
	"crypto/sha256"
	"sync/atomic"
)

// siteTexts tells which texts the hosts of one configured site have. There are two of
// each site: of the hosts that clients ask for, and of these with those that trusted
// proxies say that they were asked for, which a client can make up without coming to
// another host.
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
// as they like. What a proxy was asked for is no neighbour of what is asked for without
// that. It takes no lock and does not allocate.
func (c *Cache) Shared(key Key) *State {
	if key.Source != "" {
		return nil
	}
	if texts, _ := c.sites.Load(neighbours(key.configured(), key.Forwarded != "")); texts != nil {
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
	c.noteSite(neighbours(key.configured(), true), old, now)
	if key.Forwarded == "" {
		c.noteSite(neighbours(key.configured(), false), old, now)
	}
}

// neighbours returns what stands for the hosts of a configured site, with or without those
// that proxies were asked for.
func neighbours(site Key, forwarded bool) Key {
	if forwarded {
		site.Forwarded = "*"
	}
	return site
}

// noteSite takes note that a host has now another text than the old one; nil stands for
// none. c.mu must be held.
func (c *Cache) noteSite(site Key, old, now *Version) {
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
	var shared *State // stored once: who looks meanwhile is not told that there is none
	if len(texts.hosts) == 1 {
		for _, known := range texts.hosts {
			shared = &State{Good: known.version, Last: Answer{Status: known.version.Status}.Meaning()}
		}
	}
	if texts.shared.Store(shared); len(texts.hosts) == 0 {
		c.sites.Delete(site)
	}
}
