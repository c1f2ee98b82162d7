package guard

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// isTooEarly reports whether a blocked or slowed request came in early data, so that the client's
// address is not proven. After the handshake, the client sends the request again (RFC 8470 section 5.2).
func isTooEarly(r *http.Request, j *Judgement) bool {
	return j.Identity == verify.Unknown && site.IsEarly(r)
}
