package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// IsSearchEngine reports whether lint, reports, metrics, alerts, the change guard and diff treat a
// client as a search engine: it has the class search and is not spoofed. A crawler that collects
// pages for the answers of a model has another class.
func IsSearchEngine(class uaident.Class, identity verify.State) bool {
	return class == uaident.Search && identity != verify.Spoofed
}

// searchEngineTokens has the main crawler of each search engine, the most important engines first.
// It has every operator with a published method for verifying a crawler of the class search,
// because alerts need verified crawlers.
var searchEngineTokens = []string{
	"Googlebot", "bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot", "Slurp", "Yeti", "Sogou web spider",
	"SeznamBot", "PetalBot", "Qwantbot", "Mail.RU_Bot", "MojeekBot",
}

// SearchEngines returns the main crawler of each search engine, the most important engines first.
func SearchEngines() []*uaident.Crawler {
	all := make([]*uaident.Crawler, len(searchEngineTokens))
	for i, token := range searchEngineTokens {
		all[i] = uaident.Default().Lookup(token)
	}
	return all
}

// NamesCrawler reports whether a group of a robots.txt names a crawler by a name of its operator.
// Such a group disallows pages to a search engine on purpose, so no alert is needed. The group of
// another operator's crawler does not name the crawler, even if the crawler obeys that group:
// Applebot obeys the group of Googlebot. Neither does the * group.
func NamesCrawler(group string, c *uaident.Crawler) bool {
	if policy.NameMatches(group, c.Token) {
		return true
	}
	for _, name := range c.Aliases {
		if policy.NameMatches(group, name) {
			return true
		}
	}
	for _, name := range c.Fallback {
		if other := uaident.Default().Lookup(name); policy.NameMatches(group, name) && other != nil && other.Operator == c.Operator {
			return true
		}
	}
	return false
}

// BlocksSearch reports whether the request of a search engine is blocked by a rule in a group for
// other crawlers. The owner then gets an alert. It does not allocate.
func (r *Result) BlocksSearch(client uaident.Identity, identity verify.State) bool {
	if r.Action != Blocked || r.Verdict != Disallowed || !IsSearchEngine(client.Class, identity) {
		return false
	}
	return !r.GroupNamesClient || client.Crawler != nil && !NamesCrawler(r.Group.FirstAgent().Name, client.Crawler)
}
