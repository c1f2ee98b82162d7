package origin

import (
	"context"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// userAgentKey is where the context of a virtual request has another User-Agent than the guard's.
type userAgentKey struct{}

// PrepareAs is [Server.Prepare] with another User-Agent than the guard's, which is sent to this
// server only.
func (s *Server) PrepareAs(r *http.Request, key policy.Key, userAgent string) (fetch Fetch, ok bool) {
	return s.Prepare(r.WithContext(context.WithValue(r.Context(), userAgentKey{}, userAgent)), key)
}
