package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// What a search engine is, wherever this product speaks of one: in lint, reports,
// metrics, alerts, the change guard and diff.

// IsSearchEngine reports whether a client counts as a search engine: it is of the
// class search and not known to use a false name. What collects for the answers of
// a model is of another class.
func IsSearchEngine(class uaident.Class, identity verify.State) bool {
	return class == uaident.Search && identity != verify.Spoofed
}

// searchEngineTokens are the crawlers of whole search engines, one an operator, those first
// whose absence is felt most. It has every operator that publishes how to verify
// a crawler of the class search: those are the engines that alerts can be sure of.
var searchEngineTokens = []string{
	"Googlebot", "bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot", "Slurp", "Yeti", "Sogou web spider",
	"SeznamBot", "PetalBot", "Qwantbot", "Mail.RU_Bot", "MojeekBot",
}

// SearchEngines returns the crawlers that stand for whole search engines, those
// first whose absence is felt most.
func SearchEngines() []*uaident.Crawler {
	all := make([]*uaident.Crawler, len(searchEngineTokens))
	for i, token := range searchEngineTokens {
		all[i] = uaident.Default().Lookup(token)
	}
	return all
}

// NamesCrawler reports whether a group of a robots.txt is meant for a crawler: its name is
// one that the operator gave this crawler. A search engine that such a group
// forbids something is meant to stay out, and nobody need be told. A group that
// the crawler obeys although it names another operator's does not mean it, as
// Googlebot's does not mean Applebot; nor does the * group.
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

// BlocksSearch reports whether the result keeps a search engine out by a rule that is
// not meant for it: what its owner should know. It does not allocate.
func (r *Result) BlocksSearch(client uaident.Identity, identity verify.State) bool {
	if r.Action != Blocked || r.Verdict != Disallowed || !IsSearchEngine(client.Class, identity) {
		return false
	}
	return !r.Named || client.Crawler != nil && !NamesCrawler(r.Group.FirstAgent().Name, client.Crawler)
}
