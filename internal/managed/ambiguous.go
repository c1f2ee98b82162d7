package managed

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// isAmbiguous reports whether crawlers interpret the lines of a file differently.
func isAmbiguous(robots *policy.Robots) bool {
	findings, unreported := robots.Findings()
	return unreported > 0 || slices.ContainsFunc(findings, func(f policy.Finding) bool {
		return f.Code == policy.MisspeltKey || f.Code == policy.MissingColon || f.Code == policy.AmbiguousGroup
	})
}

// maxCompared is the maximum number of path bytes to match for all crawlers together. maxNames is the
// maximum number of compared names. Both limit the CPU time for a base.
const (
	maxCompared = 2_000_000
	maxNames    = 5_000_000
)

// check returns an error if a composed file is stricter than its base for a crawler that no rule
// names. It is called if crawlers interpret the base differently. It compares example paths of all
// rules.
func (c *composition) check(composed *policy.Robots) error {
	before, paths := c.file.robots, examplePaths(c.file.robots, composed)
	others := c.unaffected()
	bytes := 0
	for _, path := range paths {
		bytes += len(path)
	}
	if len(others)*bytes > maxCompared || len(others)*len(before.Names()) > maxNames {
		return errors.New("crawlers interpret the base in two ways, and it is too long to check the effect of the rules on other crawlers; run caddy robots-guard lint on it and fix its findings")
	}
	for _, names := range others {
		was, is := before.Select(true, names...), composed.Select(true, names...)
		for _, path := range paths {
			if was.Judge(path).Allowed && !is.Judge(path).Allowed {
				return fmt.Errorf("crawlers interpret the base in two ways, and with the rules %s could no longer fetch %s; run caddy robots-guard lint on it and fix its findings", names[0], path)
			}
		}
	}
	return nil
}

// examplePaths returns an example path for each pattern of two files, sorted.
func examplePaths(before, after *policy.Robots) []string {
	paths := []string{"/"}
	for _, robots := range []*policy.Robots{before, after} {
		for _, g := range robots.Groups() {
			for _, r := range g.Rules {
				paths = append(paths, exampleOf(r.Path))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// unaffected returns the crawlers without their own rule about fetching, each with its names. The result
// includes crawlers that obey another crawler's group, and one unnamed crawler.
func (c *composition) unaffected() (others []groupNames) {
	targets := c.targets
	known := make(map[string]bool)
	for _, t := range targets {
		if !t.rules.isAboutFetching() && t.name != AnyCrawler {
			others = append(others, t.names)
		}
		known[strings.ToLower(t.name)] = true
	}
	isAbout := func(name string) bool {
		return slices.ContainsFunc(targets, func(t target) bool { return policy.NameMatches(name, t.name) })
	}
	for _, name := range c.file.robots.Names() {
		folded := strings.ToLower(name)
		if !known[folded] && !isWildcard(name) && !isAbout(name) {
			others = append(others, groupNames{name})
		}
		known[folded] = true
	}
	if !c.plan.byCrawler[AnyCrawler].isAboutFetching() {
		others = append(others, groupNames{AnyCrawler})
	}
	return others
}

// isAboutFetching reports whether rules change access to pages. It returns false for nil.
func (w *crawlerRules) isAboutFetching() bool {
	return w != nil && (w.wholeSite != "" || len(w.paths) > 0)
}
