package judge

import (
	"net/http"
	"strings"
)

// Exemption is why the * group does not apply to a request, whatever client sends it.
type Exemption uint8

const (
	// NoExemption: the * group applies to the request.
	NoExemption Exemption = iota
	// MethodExemption: crawlers send GET and HEAD. A client that sends another method
	// delivers something or requests an answer, unless the registry knows it as a crawler.
	MethodExemption
	// WellKnownExemption: URLs under /.well-known/ (RFC 8615) are for programs such as
	// validators of certificates and domains, other servers of a federation, and apps of the
	// site. Only a rule that itself begins with /.well-known/ applies to them, "Disallow: /"
	// does not.
	WellKnownExemption
)

// String returns the reason in words, "" for NoExemption.
func (s Exemption) String() string {
	switch s {
	case MethodExemption:
		return "the * group judges other methods than GET and HEAD only of crawlers in the registry"
	case WellKnownExemption:
		return "the * group judges /.well-known/ only by rules that begin with it"
	}
	return ""
}

// WildcardExemption returns why the * group does not apply to the request because of its
// method or target. A group that names the client applies to all of its requests.
func (r *Request) WildcardExemption() Exemption {
	switch {
	case r.Token != "":
		return NoExemption // a question about a name alone is about the * group, too
	case !isCrawling(r.Method) && (r.Client.Crawler == nil || !r.Client.Class.IsCrawler()):
		return MethodExemption
	case isWellKnown(r.Target):
		return WellKnownExemption
	}
	return NoExemption
}

// isCrawling reports whether crawlers use a method. An empty one is GET.
func isCrawling(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == ""
}

const wellKnown = "/.well-known/"

// isWellKnown reports whether a target is under /.well-known/ for everybody: a
// path that some server may resolve to another place, by dot segments,
// backslashes or escapes, is not.
func isWellKnown(target string) bool {
	if strings.HasPrefix(target, "/") && !strings.HasPrefix(target, wellKnown) {
		return false // no URL either
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
