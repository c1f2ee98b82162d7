package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// againstOf returns a crawler's requests against preferences, or nil.
func againstOf(class string, entries []entry) *Against {
	known, _ := uaident.ParseClass(class)
	use, ok := judge.UseOfClass(known)
	a := Against{Class: class, Stated: use.String() + "=n"}
	for _, e := range entries {
		a.Requests += e.counts[ledger.CountAgainst]
		a.Known += e.counts[ledger.CountTold]
	}
	if !ok || a.Requests == 0 {
		return nil
	}
	return &a
}

// againstByClass sums up what crawlers fetched against preferences.
func againstByClass(crawlers []Crawler) (all []Against) {
	for _, c := range crawlers {
		if c.Against == nil {
			continue
		}
		i := slices.IndexFunc(all, func(a Against) bool { return a.Class == c.Class })
		if i < 0 {
			all = append(all, *c.Against)
			continue
		}
		all[i].Requests += c.Against.Requests
		all[i].Known += c.Against.Known
	}
	slices.SortFunc(all, func(a, b Against) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Class, b.Class))
	})
	return all
}
