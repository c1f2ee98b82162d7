package site

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// OriginalParts is the part of a request changed by rewrites, as the client sent it.
type OriginalParts struct {
	Method, RequestURI string
	URL                *url.URL
}

// OriginalRequest returns a request as sent by the client, before any rewrite.
func OriginalRequest(r *http.Request) OriginalParts {
	switch original := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(type) { // copies the large value once only
	case http.Request:
		return OriginalParts{original.Method, original.RequestURI, original.URL}
	}
	return OriginalParts{r.Method, r.RequestURI, r.URL}
}

// TargetOf returns the request target as sent. The target of CONNECT begins with an authority. A
// target with a scheme and no slash, for example x:public/, has no path here, but a proxy passes it
// on.
func TargetOf(original OriginalParts) string {
	switch {
	case original.RequestURI != "" && original.Method != http.MethodConnect:
		return original.RequestURI
	case original.URL.Opaque != "":
		return original.URL.String()
	}
	return original.URL.RequestURI()
}

// HasNoPath reports whether a request has no path: CONNECT with only a host, and OPTIONS *
// (RFC 9112 section 3.2). With a path, both methods are handled like any other method. This
// includes WebSockets over HTTP/2 and HTTP/3 (RFC 8441, RFC 9220).
func HasNoPath(r *http.Request) bool {
	switch r.Method {
	case http.MethodConnect:
		return OriginalRequest(r).URL.Path == ""
	case http.MethodOptions:
		return OriginalRequest(r).URL.Path == "*"
	}
	return false
}

// templatesField is the header in which templates count the depth of includes.
const templatesField = "Caddy-Templates-Include"

// IsIncluded reports whether the template function httpInclude made a request for a part of the
// requested page. An included request has the templates header and no connection. A client's
// request with the templates header has a connection.
func IsIncluded(r *http.Request) bool {
	return len(r.Header[templatesField]) > 0 && r.Context().Value(http.LocalAddrContextKey) == nil
}

// HasUserAgent reports whether the first User-Agent of a request is not empty.
func HasUserAgent(r *http.Request) bool {
	fields := r.Header["User-Agent"]
	return len(fields) > 0 && fields[0] != ""
}

// UserAgentOf returns the User-Agent of a request. It joins several fields (RFC 9110 section 5.3).
// A crawler's name in the second field then cannot hide behind a browser's name in the first. It
// appends the name of a headless browser in Sec-CH-UA, see [uaident.AppendHeadlessBrand].
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
		userAgent = uaident.AppendHeadlessBrand(userAgent, brands)
	}
	return userAgent
}

// IsRobotsTxt reports whether a request is for robots.txt.
func IsRobotsTxt(original OriginalParts) bool { return original.URL.Path == "/robots.txt" }

// IsACMEChallenge reports whether a request is for a token of certificate validation.
func IsACMEChallenge(original OriginalParts) bool {
	return judge.IsACMEChallenge(original.Method, TargetOf(original))
}
