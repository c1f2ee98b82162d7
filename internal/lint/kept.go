package lint

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// These bounds limit the number of cached files and the total of their findings. A finding needs
// about 300 bytes.
const (
	maxKeptTexts    = 10_000
	maxKeptFindings = 50_000
)

// Kept is a cache of reports, so that each file is checked only once. It is safe for concurrent
// use. A nil Kept caches nothing.
type Kept struct {
	mu       sync.Mutex
	reports  *simplelru.LRU[[sha256.Size]byte, *Report]
	findings int // of all reports
}

// NewKept returns an empty Kept.
func NewKept() *Kept {
	k := new(Kept)
	k.reports, _ = simplelru.NewLRU(maxKeptTexts, func(_ [sha256.Size]byte, r *Report) { k.findings -= len(r.Findings) }) // returns an error only for size 0
	return k
}

// Of returns the findings of [Look] in a version. site is the scheme and host of the site, or
// empty. A missing file has no findings. Callers must not modify the report.
func (k *Kept) Of(v *policy.Version, site string) *Report {
	if (policy.Answer{Status: v.Status}).Meaning() != policy.Rules {
		return new(Report)
	}
	if k == nil {
		return Look(v.Robots, Options{Site: site})
	}
	return k.look(v).at(v.Robots, site)
}

// look returns the findings that do not depend on the site. Concurrent calls may both check a new
// file.
func (k *Kept) look(v *policy.Version) *Report {
	k.mu.Lock()
	known, ok := k.reports.Get(v.Hash)
	k.mu.Unlock()
	if ok {
		return known
	}
	found := Look(v.Robots, Options{})
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.reports.Get(v.Hash); ok {
		return known
	}
	k.reports.Add(v.Hash, found)
	for k.findings += len(found.Findings); k.findings > maxKeptFindings; {
		k.reports.RemoveOldest()
	}
	return found
}

// at returns a report with the additional findings for a site.
func (r *Report) at(robots *policy.Robots, site string) *Report {
	if site == "" || r.has(policy.HTML) {
		return r
	}
	c := checker{robots: robots, options: Options{Site: site}, report: new(Report)}
	for _, record := range robots.Records() {
		u, ok := sitemapOf(record)
		if !ok || sitemapElsewhere(u, site) == "" {
			continue
		}
		if c.lines.ends == nil {
			c.lines = readLines(robots.Text())
		}
		c.checkSitemap(record)
	}
	if len(c.report.Findings) == 0 {
		return r
	}
	all := &Report{Findings: append(slices.Clip(r.Findings), c.report.Findings...), Unreported: r.Unreported}
	all.sort()
	if over := len(all.Findings) - maxFindings; over > 0 {
		all.Findings, all.Unreported = all.Findings[:maxFindings], all.Unreported+over
	}
	return all
}
