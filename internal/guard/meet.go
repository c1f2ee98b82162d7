package guard

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// meet returns the entry of a site of a server that has none yet, with what is known of it
// by other keys: a reload changes its key that adds another server for its host, or gives the
// host a site of its own. What is held back of a change stays so, and crawlers are held to
// what they were served there.
func (g *Guard) meet(server *caddyhttp.Server, s *request.Site) *policy.Entry {
	entry := g.shared.Cache.Add(s.Key, s.Segment)
	g.adopt(server, s, entry)
	g.shared.Memory.Want(s.Key)
	return entry
}

// readopt is adopt for an entry that is due and may have been known by another key since, as when
// a reload takes back what one before has named: then the text was read later there. That
// ends once it was read in this configuration. Another instance may still have that before, and
// read another file by the other key.
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

// lastRead returns what a reader has read last, also of its site by other keys, which a
// reload may have gone back from.
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
