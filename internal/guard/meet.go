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

// adoptRenamed takes over what is known of a site by its other keys, which a reload has
// changed that adds another server for its host, or gives the host a site of its own. What is
// held back of a change stays so.
func (g *Guard) adoptRenamed(server *caddyhttp.Server, s *request.Site) {
	if s.Key.Source != "" || server == nil {
		return
	}
	for _, before := range request.OtherKeys(server, s.Key) {
		known := g.shared.Cache.Get(before)
		if known == nil || known.State() == nil || g.Sites.IsOfAnother(server, before) {
			continue
		}
		g.shared.Cache.Restore(s.Key, s.Segment, *known.State(), true)
		if kept, ok := g.shared.changes.Snapshot(before); ok {
			kept.Site = s.Key
			g.shared.changes.Restore(kept, known.State(), false)
		}
	}
}
