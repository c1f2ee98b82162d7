package replay

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// countForChallenge counts the current request in the challenge report. blocked tells whether mode
// enforce blocks the request.
func (w *worker) countForChallenge(who *cachedIdentity, blocked bool) {
	r, c := &w.record, &w.tally.challenge
	decoded := w.decodePath(r.Target)
	current := &w.versions[w.version]
	disallowed := judge.DisallowsPath(current.robots, "*", unsafeString(r.Target), unsafeString(decoded), current.settings.KeepSlashes)
	person := who.isBrowser && len(r.UserAgent) > 0
	if person && methodText(r.Method) == "GET" && isPage(decoded) {
		c.Pages++
		if disallowed {
			c.ChallengedPages++
		}
	}
	if !disallowed {
		return
	}
	c.Requests++
	switch {
	case person:
		c.BrowserRequests++
	case !who.client.Class.IsCrawler():
		c.ProgramRequests++
	case blocked:
		c.Blocked++
	default:
		c.Passed++
	}
}

// pageEndings are the file name extensions of web pages. Most pages have no extension.
var pageEndings = []string{"", ".asp", ".aspx", ".cgi", ".htm", ".html", ".jsp", ".php", ".shtml", ".xhtml"}

// isPage reports whether the extension of a path is that of a web page or is missing. It is false
// for images, scripts and style sheets.
func isPage(p []byte) bool {
	name := p[bytes.LastIndexByte(p, '/')+1:]
	return slices.Contains(pageEndings, strings.ToLower(path.Ext(string(name))))
}

// ChallengeReport compares a challenge on every page with a challenge only on disallowed pages,
// which the matcher robots_disallowed * selects.
type ChallengeReport struct {
	// Pages is the number of pages that browsers requested. ChallengedPages is the number of these
	// pages that the * group disallows.
	Pages           uint64 `json:"pages"`
	ChallengedPages uint64 `json:"challenged"`
	// Requests is the number of requests for URLs that the * group disallows. Requests is the sum
	// of the next four fields. Browsers and programs get a challenge. Blocked counts the requests
	// of crawlers that mode enforce blocks. Passed counts all other requests of crawlers, for
	// example of exempt crawlers, or of crawlers whose own group allows the URL.
	Requests        uint64 `json:"requests"`
	BrowserRequests uint64 `json:"browsers"`
	ProgramRequests uint64 `json:"programs"`
	Blocked         uint64 `json:"blocked"`
	Passed          uint64 `json:"passed"`
}

// add adds the counts of another worker's report.
func (c *ChallengeReport) add(o *ChallengeReport) {
	c.Pages += o.Pages
	c.ChallengedPages += o.ChallengedPages
	c.Requests += o.Requests
	c.BrowserRequests += o.BrowserRequests
	c.ProgramRequests += o.ProgramRequests
	c.Blocked += o.Blocked
	c.Passed += o.Passed
}

// Describe returns the report as sentences.
func (c *ChallengeReport) Describe() []string {
	return []string{
		fmt.Sprintf("Pages opened by browsers: %d. A challenge on every page would meet all of them, and a challenge on disallowed pages %d (%s).",
			c.Pages, c.ChallengedPages, formatPercent(c.ChallengedPages, c.Pages)),
		fmt.Sprintf("Requests for disallowed URLs: %d. The challenge meets browsers (%d) and other programs (%d), enforce blocks crawlers (%d): %s. Crawlers that pass: %d.",
			c.Requests, c.BrowserRequests, c.ProgramRequests, c.Blocked, formatPercent(c.Requests-c.Passed, c.Requests), c.Passed),
	}
}

func formatPercent(part, all uint64) string {
	if all == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}
