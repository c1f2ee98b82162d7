package main

import (
	"regexp"
	"runtime"
	"strings"

	"github.com/cloudflare/ahocorasick"
	mileusna "github.com/mileusna/useragent"
	mssola "github.com/mssola/useragent"
	"github.com/x-way/crawlerdetect"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// identifier reports whether a User-Agent belongs to a robot.
type identifier struct {
	who     string
	isRobot func(ua string) bool
}

// identifiers returns our identifier and its peers. Ours also returns the robot, its
// class and the names by which a robots.txt may address it. mileusna and mssola also
// parse the browser. The other peers only answer the question.
func identifiers() []identifier {
	names := tokens(func(*uaident.Crawler) bool { return true })
	folded := make([]string, len(names))
	quoted := make([]string, len(names))
	for i, name := range names {
		folded[i] = strings.ToLower(name)
		quoted[i] = regexp.QuoteMeta(name)
	}
	matcher := ahocorasick.NewStringMatcher(folded)
	alternation := regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
	detector := crawlerdetect.New()
	return []identifier{
		{"ours", func(ua string) bool {
			class := uaident.Identify(ua).Class
			return class != uaident.Browser && class != uaident.Other
		}},
		{"mileusna", func(ua string) bool { return mileusna.Parse(ua).Bot }},
		{"mssola", func(ua string) bool { return mssola.New(ua).Bot() }},
		{"crawlerdetect", detector.IsCrawler},
		{"ahocorasick, our names", func(ua string) bool { return matcher.Contains([]byte(strings.ToLower(ua))) }},
		{"regexp, our names", alternation.MatchString},
	}
}

// identifyComparison compares the identifiers on lists of User-Agents. As a lower bound,
// the last column computes the FNV-1a hash of the User-Agent in a single pass.
func identifyComparison() comparison {
	c := comparison{name: "Identify"}
	for _, list := range []struct {
		name   string
		agents []string
	}{
		{"70 % browsers, 30 % robots, 40 different", mixedAgents(1000, 40)},
		{"the same, all different", mixedAgents(1000, 1000)},
		{"browsers only, all different", agentsOf(1000, 1000, browserKinds...)},
	} {
		bytes := 0
		for _, ua := range list.agents {
			bytes += len(ua)
		}
		row := comparisonRow{name: list.name, bytes: bytes / len(list.agents)}
		for _, peer := range identifiers() {
			row.cells = append(row.cells, cell{who: peer.who, run: over(list.agents, func(ua string) { answer = peer.isRobot(ua) })})
		}
		row.cells = append(row.cells, cell{who: "floor: FNV", run: over(list.agents, func(ua string) { runtime.KeepAlive(fnv(ua)) })})
		c.rows = append(c.rows, row)
	}
	return c
}

func fnv(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
