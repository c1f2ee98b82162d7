package guard

import (
	"net/http"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// maxOwnPages bounds the places at which the dashboard is known to be served. A
// configuration has few; clients can invent hosts of a catch-all site.
const maxOwnPages = 64

// ownPages are the places at which the dashboard is served. Who reads it crawls
// nothing, whatever the client is called. They are learnt from what it answers, so
// the first request of a client for one is still counted. The zero ownPages are
// empty.
type ownPages struct{ places cowmap.Map[ownPage, struct{}] }

// ownPage is all that stands in a folder of a host.
type ownPage struct{ host, path string }

// ownPageOf returns the place that a request for the dashboard is for: the host
// without its port, and the path up to the last slash, as it was sent: a path that
// leads elsewhere by its dots is another one.
func ownPageOf(host, path string) ownPage {
	host, _ = addr.CutPort(host)
	return ownPage{host, path[:strings.LastIndexByte(path, '/')+1]}
}

// OwnPages returns a handler of the dashboard whose readers are not counted as
// crawlers.
func (s *State) OwnPages(dashboard http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place := ownPageOf(request.NormalHost(r.Host, r.TLS != nil), r.URL.Path)
		_, known := s.own.places.Load(place)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && !known && len(place.path) > 1 && len(place.host) <= request.MaxHost && s.own.places.Len() < maxOwnPages {
			s.own.places.Store(place, struct{}{})
		}
		dashboard.ServeHTTP(w, r)
	})
}

// reads reports whether a request that was judged reads the dashboard.
func (p *ownPages) reads(j *Judgement) bool {
	if p.places.Len() == 0 || j.Action == judge.Blocked {
		return false
	}
	_, ok := p.places.Load(ownPageOf(j.Site.Own().Host, j.Path))
	return ok
}
