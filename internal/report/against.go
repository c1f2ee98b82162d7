package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// againstPreferences returns a crawler's requests against preferences, or nil.
func againstPreferences(class string, entries []siteRow) *AgainstPreference {
	known, _ := uaident.ParseClass(class)
	use, ok := judge.DocumentedUse(known)
	a := AgainstPreference{Class: class, Preference: use.String() + "=n"}
	for _, e := range entries {
		a.Requests += e.counts[ledger.CountAgainst]
		a.AfterFetch += e.counts[ledger.CountTold]
	}
	if !ok || a.Requests == 0 {
		return nil
	}
	return &a
}

// againstByClass sums up what crawlers fetched against preferences.
func againstByClass(crawlers []Crawler) (all []AgainstPreference) {
	for _, c := range crawlers {
		if c.AgainstPreference == nil {
			continue
		}
		i := slices.IndexFunc(all, func(a AgainstPreference) bool { return a.Class == c.Class })
		if i < 0 {
			all = append(all, *c.AgainstPreference)
			continue
		}
		all[i].Requests += c.AgainstPreference.Requests
		all[i].AfterFetch += c.AgainstPreference.AfterFetch
	}
	slices.SortFunc(all, func(a, b AgainstPreference) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Class, b.Class))
	})
	return all
}
