package guard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// meet returns the entry of a site of a server that has none yet, with what is known of it
// by other keys. Its key changes with a reload that adds another server for its host, or that
// gives the host a site of its own. A change that was held back under another key still is,
// and crawlers are still held to what they were served there.
func (g *Guard) meet(server *caddyhttp.Server, s *request.Site) *policy.Entry {
	entry := g.shared.Cache.Add(s.Key, s.Segment)
	g.adopt(server, s, entry)
	g.shared.Memory.Want(s.Key)
	return entry
}

// readopt is adopt for an entry that is due, whose site may have been known by another key in
// the meantime, as when a reload takes back what the one before has named: then the text was
// read later under that key. Once it was read in this configuration that is over, since another
// instance may still have the configuration before, and read another file by the other key.
func (g *Guard) readopt(r *http.Request, entry *policy.Entry, site *request.Site) {
	if len(entry.Former()) == 0 {
		return
	}
	if good := entry.Good(); good != nil && good.LastRead.Before(g.loaded) {
		g.adopt(g.sitesOf(r).Server, site, entry)
	}
}

// adopt takes in what is known of a site by other keys.
func (g *Guard) adopt(server *caddyhttp.Server, s *request.Site, entry *policy.Entry) {
	for _, before := range g.Sites.Adopt(g.shared.Cache, server, s) {
		if known := g.shared.Cache.Get(before); known != nil {
			entry.Inherit(known)
			known.Inherit(entry) // for a configuration that goes back
		}
		if kept, ok := g.shared.changes.Snapshot(before); ok {
			kept.Site = s.Key
			g.shared.changes.Restore(kept, entry.State(), false)
		}
	}
}

// lastRead returns what a reader has read last at its site, by whichever key that was known:
// a reload may have gone back to a key of before.
func (g *Guard) lastRead(who ledger.Reader) (last ledger.Reading, ok bool) {
	last, ok = g.shared.readers.Last(who)
	entry := g.shared.Cache.Get(who.Site)
	if entry == nil {
		return last, ok
	}
	for _, former := range entry.Former() {
		who.Site, who.Invented = former, former.Segment() == policy.Invented
		if read, found := g.shared.readers.Last(who); found && (!ok || read.At.After(last.At)) {
			last, ok = read, true
		}
	}
	return last, ok
}
