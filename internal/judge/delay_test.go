package judge

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Bing keeps the Crawl-delay of the * group although a group names bingbot.
func TestDelayOfWildcard(t *testing.T) {
	const file = "User-agent: bingbot\nUser-agent: YandexBot\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 10\n"
	for userAgent, want := range map[string]time.Duration{
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)": 10 * time.Second,
		"msnbot/2.0b (+http://search.msn.com/msnbot.htm)":                         10 * time.Second,
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)":        0,
		"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)":      10 * time.Second,
	} {
		client := uaident.Identify(userAgent)
		group, _, _ := GroupQuery{Names: client.AppendNames(nil), WildcardApplies: true}.Group(policy.Parse([]byte(file)))
		if got := CrawlDelay(group, client.CrawlDelay()); got.Interval != want {
			t.Errorf("%s: %v, want %v", client.Token, got.Interval, want)
		}
	}
	if got := CrawlDelay(nil, uaident.CrawlDelay{FallsBackToWildcard: true}); got != (policy.Delay{}) {
		t.Errorf("without a group: %+v", got)
	}
}
