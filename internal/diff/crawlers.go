package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// listCrawlers returns the crawlers in the registry whose names occur in requests, and at most
// maxUnregisteredNames other crawlers that the files name.
func (p Edit) listCrawlers() []uaident.Identity {
	var all []uaident.Identity
	registry := uaident.Default()
	for i, c := range registry.Crawlers() {
		if !c.RobotsOnly {
			all = append(all, uaident.Identity{Token: c.Token, Crawler: &registry.Crawlers()[i], Class: c.Class})
		}
	}
	names, overlay := append(p.Old.GroupNames(), p.New.GroupNames()...), p.Overlay()
	seen := make(map[string]bool)
	for _, name := range names {
		name, _, _ = strings.Cut(name, "/")
		name = strings.TrimRight(name, "* ")
		folded := strings.ToLower(name)
		if name == "" || len(seen) == maxUnregisteredNames || seen[folded] || registry.Lookup(name) != nil {
			continue
		}
		seen[folded] = true
		if id := registry.IdentifyWithOverlay(name+"/1.0", overlay); id.Crawler == nil && id.Class != uaident.Browser {
			all = append(all, id)
		}
	}
	return all
}

// groupByClass returns the names of clients by class. Search engines come first, and in each class
// the best-known names.
func groupByClass(ids []uaident.Identity) []ClassCrawlers {
	var all []ClassCrawlers
	for _, id := range ids {
		class := id.Class.String()
		at := slices.IndexFunc(all, func(c ClassCrawlers) bool { return c.Class == class })
		if at < 0 {
			all, at = append(all, ClassCrawlers{Class: class}), len(all)
		}
		all[at].Names = append(all[at].Names, id.Name())
	}
	for i := range all {
		slices.SortStableFunc(all[i].Names, func(a, b string) int { return -cmp.Compare(crawlerProminence(a), crawlerProminence(b)) })
	}
	slices.SortStableFunc(all, func(a, b ClassCrawlers) int { return cmp.Compare(classRank(a.Class), classRank(b.Class)) })
	return all
}

// classRank returns the position of a class in the output. Search engines have position 0.
func classRank(class string) int {
	order := []string{"search", "ai_search", "ai_assistant", "ai_training", "preview", "ads", "archive", "feed", "monitor", "service", "seo"}
	if i := slices.Index(order, class); i >= 0 {
		return i
	}
	return len(order)
}

// crawlerProminence returns how well known a crawler is: from 0 to 9, or -1 for most crawlers.
func crawlerProminence(name string) int {
	famous := []string{"OAI-SearchBot", "GPTBot", "ClaudeBot", "PerplexityBot", "DuckDuckBot", "Applebot", "Baiduspider", "YandexBot", "bingbot", "Googlebot"}
	return slices.Index(famous, name)
}
