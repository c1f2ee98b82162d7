package site

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// OriginalRequestLine has the method and the target of a request as the client sent them, before
// any rewrite.
type OriginalRequestLine struct {
	Method, RequestURI string
	URL                *url.URL
}

// OriginalRequest returns the method and the target of a request as the client sent them, before
// any rewrite.
func OriginalRequest(r *http.Request) OriginalRequestLine {
	// This copies the large value only once.
	switch original := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(type) {
	case http.Request:
		return OriginalRequestLine{original.Method, original.RequestURI, original.URL}
	}
	return OriginalRequestLine{r.Method, r.RequestURI, r.URL}
}

// RequestTarget returns the request target as sent. The target of CONNECT begins with an authority.
// A target with a scheme and no slash, for example x:public/, has no path here, but a proxy passes
// it on.
func RequestTarget(original OriginalRequestLine) string {
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

// IsTemplateInclude reports whether the template function httpInclude made a request for a part of
// the requested page. Such a request has the templates header and no connection. A client's request
// with the templates header has a connection.
func IsTemplateInclude(r *http.Request) bool {
	return len(r.Header[templatesField]) > 0 && r.Context().Value(http.LocalAddrContextKey) == nil
}

// RequestUserAgent returns the User-Agent of a request. It joins several fields (RFC 9110 section
// 5.3). A crawler's name in the second field then cannot hide behind a browser's name in the first.
// It appends the name of a headless browser in Sec-CH-UA, see [uaident.AppendHeadlessBrand].
func RequestUserAgent(r *http.Request) (userAgent string) {
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

// IsRobotsTxt reports whether the decoded path of a request is /robots.txt.
func IsRobotsTxt(original OriginalRequestLine) bool { return original.URL.Path == "/robots.txt" }

// IsACMEChallenge reports whether a request fetches a token of an ACME HTTP challenge, by which a
// certificate authority validates the domain.
func IsACMEChallenge(original OriginalRequestLine) bool {
	return judge.IsACMEChallenge(original.Method, RequestTarget(original))
}
