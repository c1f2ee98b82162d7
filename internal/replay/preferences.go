package replay

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// againstReport returns what a crawler of a class asked for against preferences, nil
// for nothing.
func (c *crawlerCount) againstReport(class uaident.Class) *AgainstReport {
	use, ok := judge.UseOf(class)
	if !ok || c.against == 0 {
		return nil
	}
	read := c.readStatus > 0 && (c.firstRead == 0 || c.againstLast == 0 || c.firstRead <= c.againstLast)
	return &AgainstReport{Stated: use.String() + "=n", Requests: c.against, Read: read}
}

// ReadText says whether the crawler had read the file.
func (a *AgainstReport) ReadText() string {
	if a.Read {
		return "yes"
	}
	return "not in these logs"
}

// HasAgainst reports whether anything was asked for against a preference.
func (r *Report) HasAgainst() bool {
	return slices.ContainsFunc(r.Crawlers, func(c CrawlerReport) bool { return c.Against != nil })
}

// AgainstText is what has to be said about what is asked for against a preference.
func (r *Report) AgainstText() string { return againstText }

const againstText = "A preference about use forbids no fetching, so none of this is a violation; what became of the pages no log shows."

// preferences writes who asked for pages against whose use the robots.txt states
// something.
func (t *tables) preferences(r *Report) {
	rows := 0
	for _, c := range r.Crawlers {
		if c.Against == nil {
			continue
		}
		if rows++; rows > tableCrawlers {
			continue
		}
		if rows == 1 {
			t.say("\n")
			t.table("CRAWLER", "CLASS", "STATED", "REQUESTS", "HAD READ IT")
		}
		t.row(c.Token, c.Class, c.Against.Stated, c.Against.Requests, c.Against.ReadText())
	}
	if rows > 0 {
		t.more(rows, tableCrawlers)
		t.say("%s\n", againstText)
	}
}
