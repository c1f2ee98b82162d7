package lint

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// longDelay is a Crawl-delay above which a crawler can fetch only a part of a large site. It is
// also the longest delay that Bing supports.
const longDelay = 30 * time.Second

// longCrawl is the duration of a complete crawl above which the copies of the first pages are too
// old.
const longCrawl = 30 * 24 * time.Hour

// minBingDelay is the minimum delay that Bing supports.
const minBingDelay = time.Second

// checkDelay checks the value of a Crawl-delay line, and whether the crawlers of its group obey the
// line.
func (c *checker) checkDelay(r policy.Record) {
	delay, ok := policy.ParseDelay(r.Value)
	if !ok {
		c.addValueFinding(InvalidDelay, r.Line, "%s is not a number of seconds, so crawlers ignore it; write a number, for example 5", quoteExcerpt(r.Value))
		return
	}
	if r.Group < 0 {
		return
	}
	at, by := c.lineByNumber(r.Line).keyColumn(), c.delayHandlingFor(r.Group)
	if by.ignoringCrawlers != nil {
		c.addFinding(DelayIgnored, r.Line, at, "%s ignores Crawl-delay; set the rate in its operator's webmaster tools, or respond with 503 or 429 if it sends too many requests", strings.Join(by.ignoringCrawlers, ", "))
		return
	}
	switch cut := by.describeCappedCrawlers(delay); {
	case cut != "":
		c.addFinding(DelayAboveMaximum, r.Line, at, "%s; write the shorter delay, or disallow some pages", cut)
	case delay > longDelay:
		c.addFinding(LongDelay, r.Line, at, "%g seconds between requests allow %d pages a day, so a crawler that obeys fetches only a part of the site; write at most 30, the maximum of Bing", delay.Seconds(), int(24*time.Hour/delay))
	}
	if pages := c.options.Pages; float64(pages)*delay.Seconds() > longCrawl.Seconds() {
		c.addFinding(DelayTooLongForSite, r.Line, at, "%g seconds between requests for %d pages make a complete crawl take %.0f days, so search engines have old copies; write at most %.2g for a crawl in 30 days, or disallow unimportant pages",
			delay.Seconds(), pages, float64(pages)*delay.Seconds()/(24*time.Hour).Seconds(), longCrawl.Seconds()/float64(pages))
	}
	if bing := c.robots.Select(true, "bingbot", "msnbot"); by.includesWildcard && delay >= minBingDelay && bing.DelayOrWildcardDelay().Line == r.Line {
		c.addFinding(DelayAppliesToBing, r.Line, at, "Bing obeys the Crawl-delay of the * group and then fetches at most %d pages a day; to change the limit, write a group for bingbot with its own Crawl-delay, for example 1", int(24*time.Hour/delay))
	}
}

// delayHandling tells how the crawlers of a group treat Crawl-delay.
type delayHandling struct {
	// ignoringCrawlers is nil if a crawler supports Crawl-delay or its support is unknown.
	ignoringCrawlers []string
	cappedCrawlers   []*cappedCrawler // cappedCrawlers are the crawlers with a maximum delay.
	includesWildcard bool             // includesWildcard is true if the group applies to *.
}

// cappedCrawler is a crawler that shortens a Crawl-delay above its maximum. token is its name in
// the file.
type cappedCrawler struct {
	token   string
	crawler *uaident.Crawler
}

// delayHandlingFor returns how the crawlers of a group treat Crawl-delay. The result is cached,
// because a group can have thousands of names and thousands of lines.
func (c *checker) delayHandlingFor(group int) *delayHandling {
	if r := c.delayHandling[group]; r != nil {
		return r
	}
	r, all, seen := new(delayHandling), true, make(map[string]bool)
	for _, a := range c.groups[group].Agents {
		r.includesWildcard = r.includesWildcard || isWildcardName(a.Name)
		crawler, token := findCrawler(a.Name)
		ignores := crawler != nil && crawler.CrawlDelay.Support == uaident.DelayIgnored
		if all = all && ignores; crawler == nil || seen[crawler.Token] {
			continue
		}
		seen[crawler.Token] = true
		if ignores {
			r.ignoringCrawlers = append(r.ignoringCrawlers, token)
		}
		if crawler.CrawlDelay.Max > 0 {
			r.cappedCrawlers = append(r.cappedCrawlers, &cappedCrawler{token, crawler})
		}
	}
	if !all {
		r.ignoringCrawlers = nil
	}
	if c.delayHandling == nil {
		c.delayHandling = make(map[int]*delayHandling)
	}
	c.delayHandling[group] = r
	return r
}

// describeCappedCrawlers lists the crawlers that wait less than the given delay, with their maximum
// delays. Without such crawlers it returns an empty string.
func (r *delayHandling) describeCappedCrawlers(delay time.Duration) string {
	var cut []string
	for _, x := range r.cappedCrawlers {
		if most := x.crawler.CrawlDelay.Max; delay > most {
			cut = append(cut, fmt.Sprintf("%s shortens %g seconds to %g", x.token, delay.Seconds(), most.Seconds()))
		}
	}
	return strings.Join(cut, ", ")
}
