package origin

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PrepareAs is [Server.Prepare] for a request with another User-Agent than the guard's, which
// is sent to this server only.
func (s *Server) PrepareAs(r *http.Request, key policy.Key, userAgent string) (fetch Fetch, ok bool) {
	return s.Prepare(r, key, Witness{UserAgent: userAgent})
}
