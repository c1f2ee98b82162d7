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
	maxCachedReports  = 10_000
	maxCachedFindings = 50_000
)

// Cache is a cache of reports, so that each file is checked only once. It is safe for concurrent
// use. A nil Cache caches nothing.
type Cache struct {
	mu       sync.Mutex
	reports  *simplelru.LRU[[sha256.Size]byte, *Report]
	findings int // of all reports
}

// NewCache returns an empty Cache.
func NewCache() *Cache {
	k := new(Cache)
	k.reports, _ = simplelru.NewLRU(maxCachedReports, func(_ [sha256.Size]byte, r *Report) { k.findings -= len(r.Findings) }) // returns an error only for size 0
	return k
}

// Report returns the findings of [CheckParsed] in a version. site is the scheme and host of the site, or
// empty. A missing file has no findings. Callers must not modify the report.
func (k *Cache) Report(v *policy.Version, site string) *Report {
	if (policy.FetchResult{Status: v.Status}).AccessResult() != policy.Successful {
		return new(Report)
	}
	if k == nil {
		return CheckParsed(v.Robots, Options{Site: site})
	}
	return k.check(v).withSite(v.Robots, site)
}

// check returns the findings that do not depend on the site. Concurrent calls may both check a new
// file.
func (k *Cache) check(v *policy.Version) *Report {
	k.mu.Lock()
	known, ok := k.reports.Get(v.Hash)
	k.mu.Unlock()
	if ok {
		return known
	}
	found := CheckParsed(v.Robots, Options{})
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.reports.Get(v.Hash); ok {
		return known
	}
	k.reports.Add(v.Hash, found)
	for k.findings += len(found.Findings); k.findings > maxCachedFindings; {
		k.reports.RemoveOldest()
	}
	return found
}

// withSite returns a report with the additional findings for a site.
func (r *Report) withSite(robots *policy.Robots, site string) *Report {
	if site == "" || r.hasCode(policy.HTML) {
		return r
	}
	c := checker{robots: robots, options: Options{Site: site}, report: new(Report)}
	for _, record := range robots.Records() {
		u, ok := sitemapOf(record)
		if !ok || otherHostMessage(u, site) == "" {
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
