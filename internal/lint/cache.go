package lint

import (
	"crypto/sha256"
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

// Cache stores the reports about robots.txt files, so that each file is checked only once. Its
// methods are safe for concurrent use. A nil Cache stores nothing.
type Cache struct {
	mu           sync.Mutex
	reports      *simplelru.LRU[cacheKey, *Report]
	findingCount int // findingCount is the number of findings in all reports.
}

// cacheKey identifies a cached report by the SHA-256 of the file and by the site.
type cacheKey struct {
	hash [sha256.Size]byte
	site string
}

// NewCache returns an empty Cache.
func NewCache() *Cache {
	k := new(Cache)
	// This returns an error only for size 0.
	k.reports, _ = simplelru.NewLRU(maxCachedReports, func(_ cacheKey, r *Report) { k.findingCount -= len(r.Findings) })
	return k
}

// Report returns the report of [CheckParsed] about a fetched robots.txt. site is the scheme and
// host of the site, or empty. The report about a missing file is empty. Callers must not modify the
// report. Concurrent calls may both check a new file.
func (k *Cache) Report(v *policy.Version, site string) *Report {
	if (policy.FetchResult{Status: v.Status}).AccessResult() != policy.Successful {
		return new(Report)
	}
	if k == nil {
		return CheckParsed(v.Robots, Options{Site: site})
	}
	key := cacheKey{v.Hash, site}
	k.mu.Lock()
	known, ok := k.reports.Get(key)
	k.mu.Unlock()
	if ok {
		return known
	}
	found := CheckParsed(v.Robots, Options{Site: site})
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.reports.Get(key); ok {
		return known
	}
	k.reports.Add(key, found)
	for k.findingCount += len(found.Findings); k.findingCount > maxCachedFindings; {
		k.reports.RemoveOldest()
	}
	return found
}
