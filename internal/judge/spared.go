package judge

import (
	"net/http"
	"strings"
)

// Sparing is why the * group is not meant for a request, whoever sends it.
type Sparing uint8

const (
	// NotSpared says that it is meant for the request.
	NotSpared Sparing = iota
	// NoCrawling: crawlers send GET and HEAD. What sends another method delivers
	// something or asks for an answer, and only who is known to crawl is told
	// from that by its name.
	NoCrawling
	// WellKnown: URLs under /.well-known/ (RFC 8615) are there for programs:
	// validators of certificates and domains, other servers of a federation, apps
	// that belong to the site. "Disallow: /" does not mean them. Only a rule that
	// itself begins with /.well-known/ does.
	WellKnown
)

// String puts it into words.
func (s Sparing) String() string {
	switch s {
	case NoCrawling:
		return "the * group judges other methods than GET and HEAD only of crawlers in the registry"
	case WellKnown:
		return "the * group judges /.well-known/ only by rules that begin with it"
	}
	return ""
}

// Spared tells whether the * group is not meant for the request because of what
// it asks for. A group that names the client judges all of its requests.
func (r *Request) Spared() Sparing {
	switch {
	case r.Token != "":
		return NotSpared // whoever asks by a name alone means what the * group says
	case !isCrawling(r.Method) && (r.Client.Crawler == nil || !r.Client.Class.IsCrawler()):
		return NoCrawling
	case isWellKnown(r.Target):
		return WellKnown
	}
	return NotSpared
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
