package judge

import (
	"net/http"
	"strings"
)

// WildcardExemption is the reason why the * group does not apply to a request, if the reason is the
// method or target and not the client.
type WildcardExemption uint8

const (
	// NoExemption means that the * group applies to the request.
	NoExemption WildcardExemption = iota
	// MethodExemption is for methods other than GET and HEAD. They come from clients that deliver data
	// or call an API, unless the client is a crawler of the registry.
	MethodExemption
	// WellKnownExemption is for URLs under /.well-known/ (RFC 8615). They are for programs, for
	// example certificate and domain validators, federated servers, and apps of the site. Only rules
	// that begin with /.well-known/ apply to these URLs, so "Disallow: /" does not.
	WellKnownExemption
)

// String describes the exemption for messages. String returns "" for NoExemption.
func (s WildcardExemption) String() string {
	switch s {
	case MethodExemption:
		return "the * group applies to methods other than GET and HEAD only for crawlers in the registry"
	case WellKnownExemption:
		return "only the rules of the * group that begin with /.well-known/ apply to this URL"
	}
	return ""
}

// WildcardExemption returns the reason for which the method or the target prevents the * group from
// applying to the request. A group that names the client applies to all of its requests.
func (r *Request) WildcardExemption() WildcardExemption {
	switch {
	case r.Token != "":
		return NoExemption // For a query about a token, the * group applies.
	case !isCrawlMethod(r.Method) && (r.Client.Crawler == nil || !r.Client.Class.IsCrawler()):
		return MethodExemption
	case isWellKnown(r.Target):
		return WellKnownExemption
	}
	return NoExemption
}

// isCrawlMethod reports whether a method is GET or HEAD, which crawlers use. An empty method is
// GET.
func isCrawlMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == ""
}

const wellKnown = "/.well-known/"

// isWellKnown reports whether every server resolves the target to a path under /.well-known/.
// isWellKnown returns false for dot segments, backslashes and escapes, because servers resolve them
// differently.
func isWellKnown(target string) bool {
	if strings.HasPrefix(target, "/") && !strings.HasPrefix(target, wellKnown) {
		return false // The target is a path that does not begin with /.well-known/.
	}
	path, _, _ := strings.Cut(target, "?")
	if scheme, rest, ok := strings.Cut(path, "://"); ok && !strings.ContainsAny(scheme, "/:") {
		i := strings.IndexAny(rest, "/#\\")
		if i <= 0 || rest[i] != '/' {
			return false
		}
		path = rest[i:]
	}
	rest, ok := strings.CutPrefix(path, wellKnown)
	if !ok || strings.ContainsAny(rest, "%\\#") || strings.Contains(rest, "..") {
		return false
	}
	return !strings.Contains(path, "/./") && !strings.HasSuffix(path, "/.")
}
