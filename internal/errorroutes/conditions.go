package errorroutes

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
)

// certainty is whether a condition holds for a blocked request.
type certainty int

const (
	never   certainty = iota
	perhaps           // it depends on the request
	always
	fails // it ends the request with an error
)

// matches returns whether one of the sets of a route holds.
func (w *routeWalk) matches(sets caddyhttp.MatcherSets) certainty {
	if len(sets) == 0 {
		return always
	}
	result := never
	for _, set := range sets {
		switch c := w.all(set); {
		case c == perhaps:
			result = perhaps
		case c != never && result == never, c == always:
			return c
		}
	}
	return result
}

// all returns whether all matchers of a set hold.
func (w *routeWalk) all(set caddyhttp.MatcherSet) certainty {
	result := always
	for _, matcher := range set {
		switch c := w.holds(matcher); {
		case c == never:
			return never
		case c == perhaps:
			result = perhaps
		case c == fails && result == always:
			return fails
		}
	}
	return result
}

func (w *routeWalk) holds(matcher any) certainty {
	if w.IsOfVerdict(matcher) {
		return w.decide(matcher)
	}
	switch m := matcher.(type) {
	case *caddyhttp.MatchHost:
		return w.decide(matcher)
	case *caddyhttp.MatchNot:
		switch c := w.matches(m.MatcherSets); c {
		case never:
			return always
		case always:
			return never
		default:
			return c
		}
	case *fileserver.MatchFile:
		if isOwnFile(m) {
			return w.decide(matcher)
		}
	case *caddyhttp.MatchExpression:
		if !isOfTheBlock([]byte(m.Expr)) {
			return perhaps
		}
		if c := w.decide(matcher); c != always {
			return c
		}
		if strings.Contains(m.Expr, ofTheRequest) || call.MatchString(m.Expr) {
			return perhaps // true for the path at hand
		}
		return always
	default:
		config, err := json.Marshal(matcher)
		if err == nil && isOfTheBlock(config) && !bytes.Contains(config, []byte(ofTheRequest)) {
			return w.decide(matcher)
		}
	}
	return perhaps
}

// call is how an expression looks at more of a request.
var call = regexp.MustCompile(`\b(?:client_ip|crawler|file|header|header_regexp|host|method|path|path_regexp|protocol|query|remote_ip|vars|vars_regexp)\s*\(`)

// isOfTheBlock reports whether a condition is about the error or the verdict,
// which are the same for all requests that are blocked.
func isOfTheBlock(config []byte) bool {
	return bytes.Contains(config, []byte("{http.error.")) || bytes.Contains(config, []byte("{http.robots_guard.action}")) ||
		bytes.Contains(config, []byte("{http.robots_guard.verdict}")) || bytes.Contains(config, []byte("robots_disallowed("))
}

// decide lets a matcher look at the request.
func (w *routeWalk) decide(matcher any) certainty {
	matches, err := caddyhttp.MatcherSet{matcher}.MatchWithError(w.request)
	switch {
	case err != nil:
		return fails
	case matches:
		return always
	}
	return never
}

// filesIn returns the file matchers of a route.
func filesIn(sets caddyhttp.MatcherSets) (files []*fileserver.MatchFile) {
	for _, set := range sets {
		for _, matcher := range set {
			if file, ok := matcher.(*fileserver.MatchFile); ok {
				files = append(files, file)
			}
		}
	}
	return files
}

// isOwnFile reports whether a file matcher looks only for files whose names the
// client has no part in.
func isOwnFile(m *fileserver.MatchFile) bool {
	return !strings.Contains(m.Root+strings.Join(m.TryFiles, ""), ofTheRequest)
}
