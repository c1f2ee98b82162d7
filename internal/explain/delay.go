package explain

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Delay is the Crawl-delay of a group.
type Delay struct {
	Seconds float64 `json:"seconds"`
	Line    int     `json:"line"`
	Why     string  `json:"why"` // how the crawler reacts, in a sentence
}

// setHabit records how a crawler treats Crawl-delay.
func (c *Client) setHabit(habit uaident.CrawlDelay) {
	c.CrawlDelay, c.DelaySource = habit.Habit.String(), habit.Source
}

// delayOf describes the Crawl-delay for a client, or returns nil if there is none.
func delayOf(s *policy.Selection, c *Client, habit uaident.CrawlDelay) *Delay {
	asked := judge.Delay(s, habit)
	if asked.Line == 0 {
		return nil
	}
	d := &Delay{Seconds: asked.Every.Seconds(), Line: asked.Line}
	switch {
	case habit.Habit == uaident.DelayIgnored:
		d.Why = c.Name + " does not read it, as its operator says"
	case habit.Habit != uaident.DelayObeyed:
		d.Why = "whether " + c.Name + " reads it its operator does not say"
	case habit.Max > 0 && asked.Every > habit.Max:
		d.Why = fmt.Sprintf("%s keeps to it as to %g seconds, the longest that its operator names", c.Name, habit.Max.Seconds())
	default:
		d.Why = c.Name + " keeps to it, as its operator says"
	}
	if asked != s.Delay() {
		d.Why += "; it is that of the * group, which " + c.Name + " also keeps where its own group has no Crawl-delay"
	}
	switch {
	case habit.Habit == uaident.DelayIgnored:
		d.Why += "; rate enforce does not slow it by that"
	case c.Class == uaident.Search.String():
		d.Why += "; rate enforce slows a search engine only with search enforce"
	default:
		d.Why += "; rate enforce answers much faster requests with 429"
	}
	return d
}

// delay prints the Crawl-delay of the group.
func (p *printer) delay(d *Delay) {
	if d != nil {
		p.line("it asks for %g seconds between two fetches, by Crawl-delay in line %d: %s", d.Seconds, d.Line, d.Why)
	}
}
