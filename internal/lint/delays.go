package lint

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// longDelay is from when on a Crawl-delay leaves room for so few pages that a site
// of some size is never read to its end. Bing keeps none that is longer.
const longDelay = 30 * time.Second

// longCrawl is after how long what was read of a site first is old before the last of
// it is read.
const longCrawl = 30 * 24 * time.Hour

// bingsLeast is the least delay that Bing takes for one.
const bingsLeast = time.Second

// checkDelay looks at a Crawl-delay line.
func (c *checker) checkDelay(r policy.Record) {
	delay, ok := policy.ParseDelay(r.Value)
	if !ok {
		c.addValue(DelayValue, r.Line, "%s is no number of seconds, so nobody can obey it; write one such as 5", quoted(r.Value))
		return
	}
	if r.Group < 0 {
		return
	}
	at, group := c.at(r.Line).keyColumn(), c.groups[r.Group]
	if unread := ignoring(group.Agents); unread != nil {
		c.add(DelayUnread, r.Line, at, "%s ignores Crawl-delay; set the rate in its operator's webmaster tools, or answer 503 or 429 when there is too much", strings.Join(unread, ", "))
		return
	}
	switch cut := c.cutting(group.Agents, delay); {
	case cut != "":
		c.add(DelayCut, r.Line, at, "%s; write that, or forbid what it is not to fetch", cut)
	case delay > longDelay:
		c.add(DelayLong, r.Line, at, "%g seconds leave room for %d pages a day, so who obeys sees little of the site; Bing keeps no more than 30 seconds", delay.Seconds(), int(24*time.Hour/delay))
	}
	if pages := c.options.Pages; float64(pages)*delay.Seconds() > longCrawl.Seconds() {
		c.add(DelayPages, r.Line, at, "%g seconds for each of %d pages are %.0f days, so what is found first is old before the last is read; write %.2g at most for a month, or forbid what nobody needs to find",
			delay.Seconds(), pages, float64(pages)*delay.Seconds()/(24*time.Hour).Seconds(), longCrawl.Seconds()/float64(pages))
	}
	for _, a := range group.Agents {
		if isGlobal(a.Name) && delay >= bingsLeast && !c.robots.Named("bingbot") {
			c.add(DelayBindsBing, r.Line, at, "a Crawl-delay of the * group binds Bing, which fetches at most %d pages a day then; give bingbot a group of its own, with the same rules, if that is not meant", int(24*time.Hour/delay))
		}
	}
}

// ignoring returns the names of a group if none of those that it names reads
// Crawl-delay, else nil.
func ignoring(agents []policy.Agent) (names []string) {
	for _, a := range agents {
		crawler, token := crawlerOf(a.Name)
		if crawler == nil || crawler.CrawlDelay.Habit != uaident.DelayIgnored {
			return nil
		}
		names = append(names, token)
	}
	return names
}

// cutting tells which of the crawlers that a group names take a delay for a shorter
// one, "" for none.
func (c *checker) cutting(agents []policy.Agent, delay time.Duration) string {
	var cut []string
	for _, a := range agents {
		if crawler, token := crawlerOf(a.Name); crawler != nil && crawler.CrawlDelay.Max > 0 && delay > crawler.CrawlDelay.Max {
			cut = append(cut, fmt.Sprintf("%s takes %g seconds for %g", token, delay.Seconds(), crawler.CrawlDelay.Max.Seconds()))
		}
	}
	return strings.Join(cut, ", ")
}
