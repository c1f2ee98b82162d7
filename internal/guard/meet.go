package guard

import (
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// meet returns the entry of a site of a server that has none yet, with what is known of it
// already.
func (g *Guard) meet(server *caddyhttp.Server, s *request.Site) *policy.Entry {
	entry := g.shared.Cache.Add(s.Key, s.Segment)
	g.adoptRenamed(server, s)
	g.shared.Memory.Want(s.Key)
	return entry
}

// adoptRenamed takes over what is known of a site by its other key. A reload that adds
// another server for the same host, or takes it away, changes whether the server has a name
// in keys. What is held back of a change stays so.
func (g *Guard) adoptRenamed(server *caddyhttp.Server, s *request.Site) {
	before := s.Key
	switch {
	case before.Source != "" || server == nil:
		return
	case before.Server == "":
		before.Server = listensAt(server)
	default:
		before.Server = ""
	}
	known := g.shared.Cache.Get(before)
	if known == nil || known.State() == nil {
		return
	}
	g.shared.Cache.Restore(s.Key, s.Segment, *known.State(), true)
	if kept, ok := g.shared.changes.Snapshot(before); ok && s.Segment == policy.Named {
		kept.Site = s.Key
		g.shared.changes.Restore(kept, known.State(), false)
	}
}
