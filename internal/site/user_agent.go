package site

import (
	"context"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// userAgentKey is the context key for another User-Agent of a virtual request.
type userAgentKey struct{}

// PrepareWithUserAgent does the same as [Server.Prepare], with another User-Agent. Requests to other servers
// still have the User-Agent of the guard.
func (s *ServerSource) PrepareWithUserAgent(r *http.Request, key policy.Key, userAgent string) (fetch Fetch, ok bool) {
	return s.Prepare(r.WithContext(context.WithValue(r.Context(), userAgentKey{}, userAgent)), key)
}
