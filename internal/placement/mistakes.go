package placement

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
)

// warnIdle tells of guards to which only /robots.txt comes, of which nothing is judged.
func warnIdle(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		switch {
		case p.Name != Guard:
		case slices.ContainsFunc(p.Matches, Match.isForStart):
			logger.Warn("only the start page comes to robots_guard: the matcher / is for that path alone; "+
				"write robots_guard without it for the whole site", zap.String("site", p.Site()))
		case slices.ContainsFunc(p.Matches, Match.isForRobots):
			logger.Warn("only /robots.txt comes to robots_guard, which everybody may read, so that it judges nothing; "+
				"write it for the pages that the file is about, outside of handle and without that matcher", zap.String("site", p.Site()))
		}
	}
}

// isForRobots reports whether a matcher is for /robots.txt and nothing else, and isForStart
// whether for the start page.
func (m Match) isForRobots() bool { return m.isFor(robotsTXTPath) }
func (m Match) isForStart() bool  { return m.isFor("/") }

func (m Match) isFor(only string) bool {
	var paths []string
	return m.Name == "path" && json.Unmarshal(m.Config, &paths) == nil && len(paths) > 0 &&
		!slices.ContainsFunc(paths, func(path string) bool { return path != only })
}

// warnModes tells of options that are about blocking in guards that block nothing, since nobody
// has written a mode.
func warnModes(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		var config struct {
			Mode        string            `json:"mode"`
			Status      int               `json:"status"`
			OnViolation []json.RawMessage `json:"on_violation"`
			Usage       string            `json:"usage"`
			Spoofed     string            `json:"spoofed"`
		}
		if p.Name != Guard || json.Unmarshal(p.Config, &config) != nil || config.Mode != "" {
			continue
		}
		var words []string
		if config.Status != 0 {
			words = append(words, "status "+strconv.Itoa(config.Status))
		}
		for word, stands := range map[string]bool{"on_violation": len(config.OnViolation) > 0, "spoofed block": config.Spoofed == "block", "usage enforce": config.Usage == "enforce"} {
			if stands {
				words = append(words, word)
			}
		}
		if len(words) == 0 {
			continue
		}
		slices.Sort(words)
		is := " is"
		if len(words) > 1 {
			is = " are"
		}
		logger.Warn(strings.Join(words, " and ")+is+" for requests that are blocked, and robots_guard without a mode blocks none; "+
			"write robots_guard enforce, or robots_guard monitor if that is meant", zap.String("site", p.Site()))
	}
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
		if config := set["robots_crawler"]; config != nil {
			w.noteCrawler(config, site)
		}
		for _, name := range ofFinding {
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
