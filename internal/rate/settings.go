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

// Settings are what the owner of a site has decided about rates.
type Settings struct {
	// MaxDelay is the longest Crawl-delay that counts; longer ones count as this.
	MaxDelay time.Duration
	// Burst, Over and Window are those of [Rules].
	Burst  int
	Over   float64
	Window time.Duration
	// IgnoreDelay leaves out what files ask for by Crawl-delay.
	IgnoreDelay bool
	// Enforce slows what is one too many. Of search engines it slows nothing, but for a
	// few with Search.
	Enforce, Search bool
	// Limits are those that the owner has set; the first that names a client is for it.
	Limits []Limit
	// All counts requests for what pages are made of, too: styles, scripts, images,
	// fonts.
	All bool
}

// Default are the settings where the owner has decided nothing.
var Default = Settings{MaxDelay: 30 * time.Second, Burst: 10, Over: 1.5, Window: 5 * time.Minute}

// Rules returns what a client is held to of which the file asks for a delay, 0 for
// none, and for which there is a limit, nil for none. Nobody is held to a longer delay
// than its operator says it keeps, nor to one that its operator does not read.
func (s *Settings) Rules(client *uaident.Identity, identity verify.State, delay time.Duration, limit *Limit) (r Rules) {
	r.Over, r.Window = s.Over, s.Window
	if limit != nil {
		r.Owner, r.Concurrent = limit.Rule, limit.Concurrent
	}
	if !s.IgnoreDelay {
		r.File = Rule{Interval: min(delay, s.MaxDelay), Burst: s.Burst}
	}
	if crawler := client.Crawler; crawler != nil && identity != verify.Spoofed {
		r.Advisory = crawler.CrawlDelay.Habit == uaident.DelayIgnored
		if most := crawler.CrawlDelay.Max; most > 0 {
			r.File.Interval = min(r.File.Interval, most)
		}
	}
	switch isSearch := judge.IsSearchEngine(client.Class, identity); {
	case !s.Enforce, isSearch && !s.Search:
	case isSearch:
		r.Mode = Spare
	default:
		r.Mode = Enforce
	}
	return r
}

// IsOfMany reports whether whoever likes runs what a client is: software without an
// operator, such as libraries and feed readers, that does not crawl by itself.
func IsOfMany(client *uaident.Identity) bool {
	return client.Crawler != nil && client.Crawler.Operator == "" && !client.Class.JudgedByWildcard()
}

// Counts reports whether a request counts as one. The path is decoded and has no
// query. What a crawler reads to know the rules, or what there is to fetch, never
// does, nor what is for programs (RFC 8615), nor the preflight of a browser (Fetch
// standard, section 3.2).
func (s *Settings) Counts(method, target string, robots *policy.Robots) bool {
	return method != http.MethodOptions && target != "/robots.txt" && !isForPrograms(target) && !robots.IsSitemap(target) &&
		(s.All || !isPart(target))
}

// isForPrograms reports whether a path is under /.well-known/, and for no server leads
// to a page out of it.
func isForPrograms(target string) bool {
	return strings.HasPrefix(target, "/.well-known/") && !strings.Contains(target, "..") && !strings.Contains(target, `\`)
}

// isPart reports whether a path is that of a part of a page, by its extension.
func isPart(target string) bool {
	switch strings.ToLower(path.Ext(target)) {
	case ".css", ".js", ".mjs", ".map", // style and script
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp",
		".woff", ".woff2", ".ttf", ".otf", ".eot":
		return true
	}
	return false
}

// State is how the rate of a request stands.
type State uint8

// The states. They are shown by their words.
const (
	NotAsked State = iota // nothing is asked of the crawler, or the request does not count
	Within                // it is not too fast
	Over                  // this request is one too many
	Slowed                // so it is, and was answered in place of the site
	numStates
)

var stateWords = [numStates]string{"", "within", "over", "slowed"}

// States returns the states of requests of which something is asked.
func States() []State { return []State{Within, Over, Slowed} }

// StateOf returns how the rate stands of a request of which something is asked.
func StateOf(p Pace) State {
	switch {
	case p.Slowed:
		return Slowed
	case p.Over:
		return Over
	}
	return Within
}

// String returns the word for s, "" for NotAsked.
func (s State) String() string {
	if s < numStates {
		return stateWords[s]
	}
	return "invalid"
}
