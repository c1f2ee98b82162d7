package policy

import (
	"crypto/sha256"
	"slices"
	"time"
)

// seenText is a text that a site was seen to serve.
type seenText struct {
	hash [sha256.Size]byte
	at   time.Time
}

// Bounds of the texts that are remembered to have been seen, and how soon one is
// noted again.
const (
	maxSeenTexts = 8
	seenInterval = time.Minute
)

// Saw notes that the site has served a text to somebody, by its hash.
func (e *Entry) Saw(hash [sha256.Size]byte, now time.Time) {
	for {
		before := e.seen.Load()
		var kept []seenText
		if before != nil {
			for _, seen := range *before {
				switch {
				case seen.hash == hash && now.Sub(seen.at) < seenInterval:
					return
				case seen.hash != hash && now.Sub(seen.at) < MaxAge:
					kept = append(kept, seen)
				}
			}
		}
		kept = append(kept[max(0, len(kept)+1-maxSeenTexts):], seenText{hash, now})
		if e.seen.CompareAndSwap(before, &kept) {
			return
		}
	}
}

// Inherit says that the site was known by another entry before: who was served a text there
// may hold it. A site that was renamed more than once has had several.
func (e *Entry) Inherit(before *Entry) {
	if texts := before.seen.Load(); texts != nil {
		for _, seen := range *texts {
			e.Saw(seen.hash, seen.at)
		}
	}
	for {
		known := e.former.Load()
		all := []Key{before.key}
		if known != nil {
			all = append(all, *known...)
		}
		if slices.Contains(all[1:], before.key) || e.former.CompareAndSwap(known, &all) {
			return
		}
	}
}

// Former returns the keys by which the site was known before.
func (e *Entry) Former() []Key {
	if former := e.former.Load(); former != nil {
		return *former
	}
	return nil
}

// Saw is [Entry.Saw] for a site that need not be in the cache. If it is not, entries that
// are made later take it to be possible, for a day, that somebody was served another text:
// see [Entry.ServesOthers].
func (c *Cache) Saw(key Key, hash [sha256.Size]byte, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.Get(key); e != nil {
		e.Saw(hash, now)
		return
	}
	c.kept[key.Segment()].lost = new(now)
}

// ServesOthers reports whether crawlers may hold another text than the current version:
// one that was replaced less than a day ago, or that somebody was seen to be served beside
// it. Where that was forgotten of some site, an entry that is made within a day after it may
// be that site's, so it reports true until the day is over. It takes no lock and does not
// allocate.
func (e *Entry) ServesOthers(now time.Time) bool {
	if e.unsure != nil && now.Sub(*e.unsure) < MaxAge {
		return true
	}
	s := e.state.Load()
	if s != nil && len(s.Past) > 0 && now.Sub(s.Past[0].Until) < MaxAge {
		return true
	}
	texts := e.seen.Load()
	if texts == nil {
		return false
	}
	for i := range *texts {
		seen := &(*texts)[i]
		if now.Sub(seen.at) < MaxAge && (s == nil || s.Good == nil || s.Good.Hash != seen.hash) {
			return true
		}
	}
	return false
}
