package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// countAgainstPreference returns how many requests of a crawler are against a preference of a
// robots.txt, or nil if none is. class is the class of the crawler.
func countAgainstPreference(class string, entries []siteRow) *RequestsAgainstPreference {
	known, _ := uaident.ParseClass(class)
	use, ok := judge.DocumentedUse(known)
	a := RequestsAgainstPreference{Class: class, Preference: use.String() + "=n"}
	for _, e := range entries {
		a.Requests += e.counts[ledger.CountAgainstPreference]
		a.AfterFetch += e.counts[ledger.CountAgainstAfterFetch]
	}
	if !ok || a.Requests == 0 {
		return nil
	}
	return &a
}

// sumAgainstPreferenceByClass returns the requests against preferences by class of crawler, most
// requests first.
func sumAgainstPreferenceByClass(crawlers []Crawler) (all []RequestsAgainstPreference) {
	for _, c := range crawlers {
		if c.AgainstPreference == nil {
			continue
		}
		i := slices.IndexFunc(all, func(a RequestsAgainstPreference) bool { return a.Class == c.Class })
		if i < 0 {
			all = append(all, *c.AgainstPreference)
			continue
		}
		all[i].Requests += c.AgainstPreference.Requests
		all[i].AfterFetch += c.AgainstPreference.AfterFetch
	}
	slices.SortFunc(all, func(a, b RequestsAgainstPreference) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Class, b.Class))
	})
	return all
}
