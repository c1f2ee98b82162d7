package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// CrawlDelay returns the Crawl-delay of a client's group, which may be nil. If the group has no
// Crawl-delay and the client also obeys the * group's, CrawlDelay returns the * group's.
func CrawlDelay(group *policy.SelectedGroup, support uaident.CrawlDelay) policy.Delay {
	if support.FallsBackToWildcard {
		return group.DelayOrWildcardDelay()
	}
	return group.Delay()
}
