package request

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// OriginalRequest returns the request as the client sent it, before any
// rewrite. It is short enough to be inlined, and then does not allocate.
func OriginalRequest(r *http.Request) *http.Request {
	if original, ok := original(r); ok {
		return &original
	}
	return r
}

func original(r *http.Request) (http.Request, bool) {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	return original, ok
}

// TargetOf returns the request target as sent. That of CONNECT begins with an
// authority, whatever follows it. What stands behind a scheme without a slash, as
// in x:public/, is no path here, but a proxy passes it on.
func TargetOf(original *http.Request) string {
	switch {
	case original.RequestURI != "" && original.Method != http.MethodConnect:
		return original.RequestURI
	case original.URL.Opaque != "":
		return original.URL.String()
	}
	return original.URL.RequestURI()
}

// HasNoPath reports whether a request is for no resource: a CONNECT that names
// only a host, and OPTIONS * (RFC 9112 section 3.2). With a path either is
// passed on and answered like any other method; so are WebSockets over HTTP/2
// and HTTP/3 (RFC 8441, RFC 9220).
func HasNoPath(r *http.Request) bool {
	switch r.Method {
	case http.MethodConnect:
		return OriginalRequest(r).URL.Path == ""
	case http.MethodOptions:
		return OriginalRequest(r).URL.Path == "*"
	}
	return false
}

// templatesField is the header by which templates count how deep they include.
const templatesField = "Caddy-Templates-Include"

// IsIncluded reports whether templates have made a request, by httpInclude, for a piece
// of the page that the client asked for: with its header, and without a connection, by
// which it is told from those of clients that send such a field.
func IsIncluded(r *http.Request) bool {
	return len(r.Header[templatesField]) > 0 && r.Context().Value(http.LocalAddrContextKey) == nil
}

// UserAgentOf returns the User-Agent of a request. Several fields count as one
// (RFC 9110 section 5.3): a name in the second would else hide behind a
// browser's in the first. A headless browser that the field Sec-CH-UA names follows it,
// see [uaident.WithBrand].
func UserAgentOf(r *http.Request) (userAgent string) {
	switch fields := r.Header["User-Agent"]; len(fields) {
	case 0:
		return ""
	case 1:
		userAgent = fields[0]
	default:
		userAgent = strings.Join(fields, ", ")
	}
	for _, brands := range r.Header["Sec-Ch-Ua"] {
		userAgent = uaident.WithBrand(userAgent, brands)
	}
	return userAgent
}

// IsRobotsTxt reports whether the robots.txt itself is asked for.
func IsRobotsTxt(original *http.Request) bool { return original.URL.Path == "/robots.txt" }

// IsACMEChallenge reports whether a request is for a token of certificate validation.
func IsACMEChallenge(original *http.Request) bool {
	return judge.IsACMEChallenge(original.Method, TargetOf(original))
}
