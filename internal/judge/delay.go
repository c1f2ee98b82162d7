package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Delay returns what a robots.txt asks of a client by Crawl-delay: what its group asks for
// or, if the client also keeps the Crawl-delay of the * group and its own group has none,
// what the * group asks for. The group may be nil.
func Delay(group *policy.Selection, habit uaident.CrawlDelay) policy.Delay {
	if habit.Wildcard {
		return group.DelayOrGlobal()
	}
	return group.Delay()
}
