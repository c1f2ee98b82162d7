package store

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// held returns a function that reports whether a value of this instance that was written at a
// time need not be read, since it holds nothing but what the cache has of its site; it then
// takes note that this is stored. After a reload no value need be read, of very many sites
// perhaps. It returns nil where the cache is empty.
//
// A value that was written after the text in the cache was read for the first time has that
// text, for an instance writes what it has. In a storage that this process has not written to
// no value is as young.
func (p *policies) held() func(k key, modified time.Time) bool {
	byName := make(map[string]*policy.Entry)
	for _, e := range p.cache.Entries() {
		if state := e.State(); state != nil && state.Good != nil {
			byName[siteName(e.Key())] = e
		}
	}
	if len(byName) == 0 {
		return nil
	}
	return func(k key, modified time.Time) bool {
		e := byName[k.name]
		if e == nil || k.instance != p.store.instance {
			return false
		}
		state := e.State()
		good := state.Good
		if !modified.After(good.FirstRead) || modified.Before(good.LastRead.Add(-rewriteInterval)) || p.store.isOld(modified) {
			return false
		}
		what := storedOf(state)
		what.lastRead = min(what.lastRead, modified.UnixNano()) // no later one was known by then
		p.mu.Lock()
		defer p.mu.Unlock()
		p.noteStored(e.Key(), what)
		if e.Segment() == policy.Invented {
			p.unnamed[e.Key()] = true
		}
		return true
	}
}
