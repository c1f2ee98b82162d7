package placement

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
)

// warnIdle tells of guards to which only /robots.txt comes, of which nothing is judged.
func warnIdle(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		if p.Name == Guard && slices.ContainsFunc(p.Matches, Match.isForRobots) {
			logger.Warn("only /robots.txt comes to robots_guard, which everybody may read, so that it judges nothing; "+
				"write it for the pages that the file is about, outside of handle and without that matcher", zap.String("site", p.Site()))
		}
	}
}

// isForRobots reports whether a matcher is for /robots.txt and nothing else.
func (m Match) isForRobots() bool {
	var paths []string
	return m.Name == "path" && json.Unmarshal(m.Config, &paths) == nil && len(paths) > 0 &&
		!slices.ContainsFunc(paths, func(path string) bool { return path != robotsTXTPath })
}

// warnSpared tells of limits that slow nobody.
func warnSpared(placed []*Placed, spared func(rate json.RawMessage) []string, logger *zap.Logger) {
	for _, p := range placed {
		var config struct {
			Rate json.RawMessage `json:"rate"`
		}
		if p.Name != Guard || json.Unmarshal(p.Config, &config) != nil || config.Rate == nil {
			continue
		}
		if names := spared(config.Rate); len(names) > 0 {
			logger.Warn("the limit of "+strings.Join(names, " and ")+" is counted and slows no search engine; "+
				"write search enforce into rate if that is meant, which slows one of its requests in twenty at most, or remove the limit", zap.String("site", p.Site()))
		}
	}
}

// asks is a matcher that goes by what a guard before it has found, with a site where it
// stands.
type asks struct {
	matcher, site string
}

// note keeps the matchers of a route that go by what a guard, or verify, has found.
func (w *walk) note(sets []map[string]json.RawMessage, here *way) {
	for _, set := range sets {
		site := (&Placed{Server: w.server, Hosts: here.hosts}).Site()
		if config := set["crawler"]; config != nil {
			w.noteCrawler(config, site)
		}
		for _, name := range []string{"robots_rate", "robots_preference"} {
			if set[name] != nil && !slices.ContainsFunc(w.asks, func(a asks) bool { return a.matcher == name }) {
				w.asks = append(w.asks, asks{name, site})
			}
		}
	}
}

// warnUnanswered tells of matchers that never match, since no guard of the server finds what
// they go by.
func (w *walk) warnUnanswered(logger *zap.Logger) {
	for _, a := range w.asks {
		needs := "robots_guard"
		if a.matcher == "robots_rate" {
			needs = "robots_guard with rate"
		}
		if !slices.ContainsFunc(w.found, func(p *Placed) bool { return p.answers(a.matcher) }) {
			logger.Warn(a.matcher+" never matches: it goes by what "+needs+" before it finds, and there is none; add that", zap.String("site", a.site))
		}
	}
}

// answers reports whether a handler finds what a matcher goes by.
func (p *Placed) answers(matcher string) bool {
	var config struct {
		Rate json.RawMessage `json:"rate"`
	}
	return p.Name == Guard && json.Unmarshal(p.Config, &config) == nil && (matcher != "robots_rate" || config.Rate != nil)
}

// placeholder matches what looks like one of the verdict.
var placeholder = regexp.MustCompile(`\{http\.robots_guard\.([A-Za-z0-9_.-]*)\}`)

// warnPlaceholders tells of placeholders in routes that are none of the known ones, each once.
func warnPlaceholders(server string, routes []Route, known []string, logger *zap.Logger) error {
	config, err := json.Marshal(routes)
	told := make(map[string]bool)
	for _, found := range placeholder.FindAllSubmatch(config, -1) {
		name := string(found[1])
		if told[name] || slices.Contains(known, name) {
			continue
		}
		told[name] = true
		hint := "docs/configuration.md lists them"
		if near := spelling.Near(name, known); near != "" {
			hint = "did you mean {http.robots_guard." + near + "}?"
		}
		logger.Warn("{http.robots_guard."+name+"} is no placeholder and stays empty; "+hint, zap.String("server", server))
	}
	return err
}
