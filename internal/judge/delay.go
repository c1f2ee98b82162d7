package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Delay returns the Crawl-delay of a client's group, which may be nil. If the group has none
// and the client also obeys the Crawl-delay of the * group, Delay returns that.
func Delay(group *policy.Selection, habit uaident.CrawlDelay) policy.Delay {
	if habit.Wildcard {
		return group.DelayOrGlobal()
	}
	return group.Delay()
}
