package rate

import (
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Settings are the configured rates of a site.
type Settings struct {
	// MaxCrawlDelay is the longest enforced Crawl-delay. It replaces longer delays.
	MaxCrawlDelay time.Duration
	// Burst, Tolerance and Window have the meanings that [Rules] documents.
	Burst     int
	Tolerance float64
	Window    time.Duration
	// IgnoreCrawlDelay turns off the measurement of Crawl-delay.
	IgnoreCrawlDelay bool
	// Enforce answers requests over the rate with 429, except requests of search engines. If
	// SlowSearch is true too, a few requests of search engines over the rate are answered with 429.
	Enforce, SlowSearch bool
	// Limits are the configured limits. The first limit that matches a client applies.
	Limits []Limit
	// CountPageResources also counts requests for styles, scripts, images and fonts, which browsers
	// request with a page.
	CountPageResources bool
}

// DefaultSettings are the default settings.
var DefaultSettings = Settings{MaxCrawlDelay: 30 * time.Second, Burst: 10, Tolerance: 1.5, Window: 5 * time.Minute}

// RulesForClient returns the rate rules for a client with a Crawl-delay (0 for none) and a limit
// (nil for none). The enforced delay is at most the longest delay documented by the crawler's
// operator. A delay ignored by the crawler is not enforced.
func (s *Settings) RulesForClient(client *uaident.Identity, identity verify.State, delay time.Duration, limit *Limit) (r Rules) {
	r.Tolerance, r.Window = s.Tolerance, s.Window
	if limit != nil {
		r.ConfiguredLimit, r.Concurrent = limit.Rule, limit.Concurrent
	}
	if !s.IgnoreCrawlDelay {
		r.CrawlDelay = Rule{Interval: min(delay, s.MaxCrawlDelay), Burst: s.Burst}
	}
	if crawler := client.Crawler; crawler != nil && identity != verify.Spoofed {
		r.IgnoresCrawlDelay = crawler.CrawlDelay.Support == uaident.DelayIgnored
		if most := crawler.CrawlDelay.Max; most > 0 {
			r.CrawlDelay.Interval = min(r.CrawlDelay.Interval, most)
		}
	}
	switch isSearch := judge.IsSearchEngine(client.Class, identity); {
	case !s.Enforce, isSearch && !s.SlowSearch:
	case isSearch:
		r.Mode = SlowSearch
	default:
		r.Mode = Enforce
	}
	return r
}

// IsSharedSoftware reports whether anybody can run the software of a client, for example a library
// or a feed reader. Shared software has no operator and does not crawl by itself.
func IsSharedSoftware(client *uaident.Identity) bool {
	return client.Crawler != nil && client.Crawler.Operator == "" && !client.Class.WildcardApplies()
}

// CountsRequest reports whether the rate includes a request. target is a decoded path without a
// query. The rate never includes requests for robots.txt and sitemaps, requests under /.well-known/
// (RFC 8615), or preflight requests of browsers (Fetch standard, section 3.2).
func (s *Settings) CountsRequest(method, target string, robots *policy.Robots) bool {
	return method != http.MethodOptions && target != "/robots.txt" && !isWellKnown(target) && !robots.IsSitemap(target) &&
		(s.CountPageResources || !isPageResource(target))
}

// isWellKnown reports whether every server resolves the path to a path under /.well-known/.
func isWellKnown(target string) bool {
	return strings.HasPrefix(target, "/.well-known/") && !strings.Contains(target, "..") && !strings.Contains(target, `\`)
}

// isPageResource reports whether a path has the extension of a style, script, image or font.
func isPageResource(target string) bool {
	switch strings.ToLower(path.Ext(target)) {
	case ".css", ".js", ".mjs", ".map", // These extensions are for styles and scripts.
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp",
		".woff", ".woff2", ".ttf", ".otf", ".eot":
		return true
	}
	return false
}

// State says whether a request was within the rate, over the rate, or slowed.
type State uint8

// These are the states. Their words are used in output.
const (
	NoRate     State = iota // NoRate means that no rate applies to the crawler, or that the request does not count.
	WithinRate              // WithinRate means that the request was within the rate.
	OverRate                // OverRate means that the request was over the rate.
	SlowedDown              // SlowedDown means that the request was over the rate and was answered with 429.
	numStates
)

var stateNames = [numStates]string{"", "within", "over", "slowed"}

// AllStates returns all states except NoRate.
func AllStates() []State { return []State{WithinRate, OverRate, SlowedDown} }

// StateOfPace returns the state of a request from its pace. It never returns NoRate.
func StateOfPace(p Pace) State {
	switch {
	case p.MustSlow:
		return SlowedDown
	case p.IsOverRate:
		return OverRate
	}
	return WithinRate
}

// String returns the word for s in logs and reports, "" for NoRate.
func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "invalid"
}
