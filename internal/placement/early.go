package placement

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// Early is a handler of others that stands before a guard and should stand behind it.
type Early struct {
	Handler string // its directive
	Why     string // what goes wrong, and what to do
}

// What goes wrong with a handler before a guard.
const (
	whyCache = "a forbidden crawler gets from it the pages that it keeps of others, and nobody judges or counts that; " +
		"take it out of the global option order, or write robots_guard before it in the route"
	whyPlaceholder = "it uses a placeholder {http.robots_guard...}, which has no value yet; write it behind robots_guard in a route"
	whyMatcher     = "it goes by what robots_guard finds, which nobody has looked for yet; write what it is for behind robots_guard in a route"
	whyText        = "nobody notes then who has read /robots.txt, so that a crawler counts as one that never has, and usage holds nobody to the text; " +
		"write robots_guard before it in the route"
	whyHeader = whyPlaceholder + ", or have the field of the answer set last by header >Name value"
)

// warnEarly tells of handlers that should stand behind a guard.
func warnEarly(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		for _, e := range p.Early {
			logger.Warn(e.Handler+" stands before robots_guard: "+e.Why, zap.String("site", p.Site()))
		}
	}
}

// early returns the handlers on the way to a guard that should stand behind it, those
// nearest to it first. One that may be meant so is left out.
func (y *way) early() (all []Early) {
	told := make(map[Early]bool)
	tell := func(e Early) {
		if !told[e] {
			told[e], all = true, append(all, e)
		}
	}
	if m := y.blind(); m != "" { // so that no request comes to the guard
		tell(blindness(m))
	}
	for b := y.before.nearestOdd(); b != nil; b = b.odd {
		if b.blind != "" && b.guard == nil && b.meets(y) {
			tell(blindness(b.blind))
			continue
		}
		if slices.Contains(y.groups, b.group) { // of another route of the group
			continue
		}
		switch {
		case b.caches && b.isForAnybody() && b.meets(y):
			tell(Early{b.name, whyCache})
		case b.early && b.meets(y) && b.guard == nil: // no request comes to it through a guard
			switch b.name {
			case RobotsTXT:
				tell(Early{RobotsTXT, whyText})
			case "headers":
				tell(Early{"header", whyHeader})
			default:
				tell(Early{b.name, whyPlaceholder})
			}
		}
	}
	return all
}

// blindness tells of a matcher that uses a verdict before there is one.
func blindness(matcher string) Early {
	if slices.Contains(ofFinding, matcher) {
		return Early{"the matcher " + matcher, whyMatcher}
	}
	return Early{"the matcher " + matcher, whyPlaceholder}
}

// isForAnybody reports whether a handler is for browsers and crawlers alike.
func (b *passed) isForAnybody() bool {
	return !slices.ContainsFunc(b.matches, func(m Match) bool { return !m.isForAnybody() })
}

// meets reports whether some request certainly comes both through a handler and the
// way to a guard behind it.
func (b *passed) meets(y *way) bool {
	if within(y.reach, b.reach) {
		return true
	}
	if !share(b.hosts, y.hosts) {
		return false
	}
	for _, m := range y.matches {
		if slices.ContainsFunc(b.matches, func(other Match) bool { return m.Name == other.Name && bytes.Equal(m.Config, other.Config) }) {
			continue
		}
		if m.Name != "path" || !asksFor(b.matches, m.Config) {
			return false
		}
	}
	return true
}

// asksFor reports whether some path of those that matchers are for is also one of a
// matcher of paths.
func asksFor(matches []Match, paths json.RawMessage) bool {
	for _, m := range matches {
		var own []string
		switch {
		case m.Name == "method" || m.Name == "protocol" || m.Name == "header":
			continue
		case m.Name == anyOf:
			if !slices.ContainsFunc(m.sets(), func(set []Match) bool { return asksFor(set, paths) }) {
				return false
			}
			continue
		case m.Name != "path" || json.Unmarshal(m.Config, &own) != nil:
			return false
		}
		if !slices.ContainsFunc(own, func(path string) bool {
			is, ok := isFor(paths, strings.ReplaceAll(path, "*", "x"))
			return is && ok
		}) {
			return false
		}
	}
	return true
}

// usesVerdict reports whether a handler puts something of the verdict into use as a
// request comes to it.
func (b *passed) usesVerdict() bool {
	if !bytes.Contains(b.config, ofVerdict) {
		return false
	}
	switch b.name {
	case "rate_limit", "vars", "rewrite":
		return true
	case "headers":
		var h struct {
			Request  json.RawMessage `json:"request"`
			Response json.RawMessage `json:"response"`
		}
		var when struct {
			Deferred bool            `json:"deferred"`
			Require  json.RawMessage `json:"require"`
		}
		if json.Unmarshal(b.config, &h) != nil || len(h.Response) > 0 && json.Unmarshal(h.Response, &when) != nil {
			return false
		}
		return bytes.Contains(h.Request, ofVerdict) || bytes.Contains(h.Response, ofVerdict) && !when.Deferred && when.Require == nil
	}
	return false
}
