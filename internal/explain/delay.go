package explain

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Delay is the Crawl-delay for a client: the Crawl-delay of its group or, for some crawlers whose
// group has none, the Crawl-delay of the * group.
type Delay struct {
	Seconds float64 `json:"seconds"`
	Line    int     `json:"line"`
	Reason  string  `json:"why"` // Reason says how the crawler reacts, in a sentence.
}

// setDelaySupport sets CrawlDelay and DelaySource to the documented behavior of a crawler.
func (c *Client) setDelaySupport(behavior uaident.CrawlDelay) {
	c.CrawlDelay, c.DelaySource = behavior.Support.String(), behavior.Source
}

// describeDelay returns the Crawl-delay of a client and how the client reacts, or nil if no
// Crawl-delay applies.
func describeDelay(s *policy.SelectedGroup, c *Client, behavior uaident.CrawlDelay) *Delay {
	delay := judge.CrawlDelay(s, behavior)
	if delay.Line == 0 {
		return nil
	}
	d := &Delay{Seconds: delay.Interval.Seconds(), Line: delay.Line}
	switch {
	case behavior.Support == uaident.DelayIgnored:
		d.Reason = c.Name + " ignores Crawl-delay, according to its operator"
	case behavior.Support != uaident.DelayObeyed:
		d.Reason = "the operator of " + c.Name + " does not document whether it obeys Crawl-delay"
	case behavior.Max > 0 && delay.Interval > behavior.Max:
		d.Reason = fmt.Sprintf("%s waits %g seconds, the maximum that its operator documents", c.Name, behavior.Max.Seconds())
	default:
		d.Reason = c.Name + " obeys Crawl-delay, according to its operator"
	}
	if delay != s.Delay() {
		d.Reason += "; the line is in the * group, and " + c.Name + " uses it if its own group has no Crawl-delay"
	}
	switch {
	case behavior.Support == uaident.DelayIgnored:
		d.Reason += "; rate enforce does not enforce this line for the crawler"
	case c.Class == uaident.Search.String():
		d.Reason += "; rate enforce slows search engines only with the option search enforce"
	default:
		d.Reason += "; rate enforce answers much faster requests with 429"
	}
	return d
}

// printDelay prints the Crawl-delay of the group, unless it is nil.
func (p *printer) printDelay(d *Delay) {
	if d != nil {
		p.printLine("Crawl-delay of %g seconds in line %d: %s", d.Seconds, d.Line, d.Reason)
	}
}
