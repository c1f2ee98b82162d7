package policy

import (
	"crypto/sha256"
	"sync/atomic"
)

// siteTexts tells which texts the hosts of one configured site have. What trusted proxies
// say that they were asked for can be made up by a client who does not come to another host,
// so such hosts count for one another alone.
type siteTexts struct {
	asked     hostTexts // of the hosts that clients ask for
	forwarded hostTexts // of those that proxies were asked for
}

// hostTexts are the texts of some hosts, mostly one: there may be very many sites.
type hostTexts struct {
	only    atomic.Pointer[textHosts]        // differing where there are several, nil where there is none
	several map[[sha256.Size]byte]*textHosts // all of them, nil where there is one
}

// textHosts is a text and how many hosts have it.
type textHosts struct {
	version *Version
	hosts   atomic.Int32
	state   atomic.Pointer[State] // what a host is judged by of which no more is known; nil until one is
}

// differing stands for several texts.
var differing textHosts

// minSharing is how many hosts that only a wildcard, a catch-all or a proxy takes must have one text,
// and all known ones, for that to say something of another: each may be a site of its own,
// and has a few names.
const minSharing = 8

// shared returns the text of all hosts of a site, those that proxies were asked for only if
// they matter, and how many these are. It is nil where they have several, or none is known.
func (t *siteTexts) shared(forwarded bool) (only *textHosts, hosts int32) {
	if only = t.asked.only.Load(); only != nil {
		hosts = only.hosts.Load()
	}
	if forwarded {
		if other := t.forwarded.only.Load(); other != nil {
			hosts += other.hosts.Load()
			if only == nil {
				only = other
			} else if other.version == nil || only.version == nil || other.version.Hash != only.version.Hash {
				return nil, 0
			}
		}
	}
	if only == &differing {
		return nil, 0
	}
	return only, hosts
}

// Shared returns a state with the text that all known hosts of a configured
// site have, nil if they have several or none is known. A host of that site of
// which nothing is known yet is best judged by it: clients invent as many hosts
// as they like. What a proxy was asked for is no neighbour of what is asked for without
// that. It takes no lock, and allocates once for a text.
func (c *Cache) Shared(key Key) *State {
	if key.Source != "" {
		return nil
	}
	texts, _ := c.sites.Load(key.configured())
	if texts == nil {
		return nil
	}
	only, hosts := texts.shared(key.Forwarded != "")
	isOfMany := key.isOfPattern() || key.Forwarded != "" && texts.asked.isEmpty() // where the site itself has no text to tell
	if only == nil || hosts < minSharing && isOfMany {
		return nil
	}
	if state := only.state.Load(); state != nil {
		return state
	}
	only.state.CompareAndSwap(nil, &State{Good: only.version, Last: Answer{Status: only.version.Status}.Meaning()})
	return only.state.Load()
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
		texts = new(siteTexts)
		c.sites.Store(site, texts)
	}
	of := &texts.asked
	if key.Forwarded != "" {
		of = &texts.forwarded
	}
	of.note(old, now)
	if texts.asked.isEmpty() && texts.forwarded.isEmpty() {
		c.sites.Delete(site)
	}
}

func (h *hostTexts) isEmpty() bool { return h.only.Load() == nil }

// note takes note that a host has now another text than the old one; nil stands for none.
func (h *hostTexts) note(old, now *Version) {
	if now != nil && h.isEmpty() {
		first := &textHosts{version: now}
		first.hosts.Store(1)
		h.only.Store(first)
		return
	}
	texts, only := h.several, h.only.Load()
	if texts == nil {
		texts = make(map[[sha256.Size]byte]*textHosts)
	}
	if only != nil && only != &differing {
		texts[only.version.Hash] = only
	}
	if old != nil {
		if known := texts[old.Hash]; known != nil {
			if known.hosts.Add(-1) == 0 {
				delete(texts, old.Hash)
			}
		}
	}
	if now != nil {
		known := texts[now.Hash]
		if known == nil {
			known = &textHosts{version: now}
			texts[now.Hash] = known
		}
		known.hosts.Add(1)
	}
	h.several, only = texts, &differing
	if len(texts) <= 1 {
		h.several, only = nil, nil
		for _, only = range texts {
		}
	}
	h.only.Store(only) // once: who looks meanwhile is not told that there is none
}
