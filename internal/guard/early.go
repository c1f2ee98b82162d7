package guard

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// isTooEarly reports whether a request that is blocked or slowed came in early data, and who
// it is from can be told once the handshake is complete. Its client then sends it again (RFC
// 8470 section 5.2).
func isTooEarly(r *http.Request, j *Judgement) bool {
	return j.Identity == verify.Unknown && request.IsEarly(r)
}
