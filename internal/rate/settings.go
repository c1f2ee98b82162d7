package rate

import (
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
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
	// All counts requests for what pages are made of, too: styles, scripts, images,
	// fonts.
	All bool
}

// Default are the settings where the owner has decided nothing.
var Default = Settings{MaxDelay: 30 * time.Second, Burst: 10, Over: 1.5, Window: 5 * time.Minute}

// Rules returns what a crawler is held to of which the file asks for a delay, 0 for
// none.
func (s *Settings) Rules(delay time.Duration) Rules {
	if s.IgnoreDelay {
		delay = 0
	}
	return Rules{File: Rule{Interval: min(delay, s.MaxDelay), Burst: s.Burst}, Over: s.Over, Window: s.Window}
}

// Counts reports whether a request counts as one. The path is decoded and has no
// query. What a crawler reads to know the rules, or what there is to fetch, never
// does, nor what is for programs (RFC 8615), nor the preflight of a browser (Fetch
// standard, section 3.2).
func (s *Settings) Counts(method, target string, robots *policy.Robots) bool {
	switch {
	case method == http.MethodOptions, target == "/robots.txt", strings.HasPrefix(target, "/.well-known/"), robots.IsSitemap(target):
		return false
	}
	return s.All || !isPart(target)
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
	numStates
)

var stateWords = [numStates]string{"", "within", "over"}

// States returns the states of requests of which something is asked.
func States() []State { return []State{Within, Over} }

// String returns the word for s, "" for NotAsked.
func (s State) String() string {
	if s < numStates {
		return stateWords[s]
	}
	return "invalid"
}
