package guard

import (
	"net/http"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// maxOwnPages bounds the known locations of the dashboard. Clients can invent hosts of a catch-all site.
const maxOwnPages = 64

// ownPages has the locations of the dashboard, so that the guard ignores its readers. ownPages
// learns a location from the first response. The zero value is empty.
type ownPages struct{ places cowmap.Map[ownPage, struct{}] }

// ownPage is a folder of a host.
type ownPage struct{ host, path string }

// ownPageOf returns the location of a request for the dashboard: the host without port, and the path as
// sent up to the last slash.
func ownPageOf(host, path string) ownPage {
	host, _ = addr.SplitPort(host)
	return ownPage{host, path[:strings.LastIndexByte(path, '/')+1]}
}

// OwnPages wraps the dashboard so that the guard ignores its readers.
func (s *State) OwnPages(dashboard http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place := ownPageOf(site.NormalHost(r.Host, r.TLS != nil), r.URL.Path)
		_, known := s.own.places.Load(place)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && !known && len(place.path) > 1 && len(place.host) <= site.MaxHost && s.own.places.Len() < maxOwnPages {
			s.own.places.Store(place, struct{}{})
		}
		dashboard.ServeHTTP(w, r)
	})
}

// reads reports whether a request is for the dashboard.
func (p *ownPages) reads(j *Judgement) bool {
	if p.places.Len() == 0 || j.Action == judge.Blocked {
		return false
	}
	_, ok := p.places.Load(ownPageOf(j.Site.Own().Host, j.Path))
	return ok
}
