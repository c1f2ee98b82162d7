package replay

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/replay/logformat"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// These are bounds of the counts.
const (
	maxPaths    = 2000  // maxPaths limits the pairs of a crawler and a path.
	maxPathSize = 200   // maxPathSize is the maximum number of bytes of a path.
	maxRules    = 50000 // maxRules limits the triples of a crawler, a version and a rule.
	maxHosts    = 100   // maxHosts limits the hosts in the logs.
)

// otherName is the name of all clients of a class whose names are missing in the registry and the
// robots.txt.
const otherName = judge.OtherName

// crawlerKey identifies a crawler. Both fields are from the registry or the robots.txt, so clients
// cannot cause new keys.
type crawlerKey struct {
	name  string
	class uaident.Class
}

// crawlerNumbers assigns a number to each crawler. All workers share one crawlerNumbers.
type crawlerNumbers struct {
	mu   sync.Mutex
	ids  map[crawlerKey]int32
	keys []crawlerKey
}

// assignNumber returns the number of a crawler, and assigns one to a new crawler.
func (c *crawlerNumbers) assignNumber(key crawlerKey) int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.ids[key]
	if !ok {
		if c.ids == nil {
			c.ids = make(map[crawlerKey]int32)
		}
		id = int32(len(c.keys))
		c.ids[key] = id
		c.keys = append(c.keys, key)
	}
	return id
}

// crawlerCount has the counts of a crawler.
type crawlerCount struct {
	requests, disallowed, stale, exempt uint64
	// notEnforced is the number of disallowed requests that enforce does not block.
	notEnforced    uint64
	robotsRequests uint64 // robotsRequests is the number of requests for /robots.txt.
	// fetchedAt is the time of the last robots.txt fetch, or 0 if there was none.
	fetchedAt                          int64
	fetchStatus                        int
	lastRequest                        int64 // lastRequest is the time of the last request, or 0 if it is unknown.
	responses                          responseaudit.ResponseCounts
	limitedRequests, overLimit, slowed uint64
	delay                              time.Duration // delay is the last delay.
	limit                              *rate.Limit   // limit is the last limit, or nil if there is none.
}

// ruleKey identifies a rule that a crawler violated.
type ruleKey struct{ crawler, version, line int32 }

type ruleCount struct {
	count uint64
	rule  policy.Rule
	group string // group is the first of the group's matching names in alphabetical order.
}

// pathKey identifies a disallowed path that a crawler requested.
type pathKey struct {
	crawler int32
	path    string
}

// newPathKey returns the key of a path, which is cut after maxPathSize bytes. The key shares the
// memory of path.
func newPathKey(crawler int32, path []byte) pathKey {
	return pathKey{crawler, unsafeString(path[:min(len(path), maxPathSize)])}
}

// tally has the counts of one worker or, after merging, of all workers.
type tally struct {
	lines, malformed, tooLong      uint64
	otherLines                     uint64 // otherLines counts lines without a request to judge.
	otherSiteLines, otherTimeLines uint64
	browsers, requests             uint64
	noUserAgent                    uint64 // noUserAgent counts requests without a User-Agent.
	noHost                         uint64 // noHost counts requests of other sites that have no host.
	// beforeFirst counts requests before the first version. They were judged by this version.
	beforeFirst  uint64
	first, last  int64
	crawlers     []crawlerCount // The index is the number of the crawler.
	rules        map[ruleKey]*ruleCount
	rulesDropped uint64
	paths        spacesaving.Sketch[pathKey]
	hosts        spacesaving.Sketch[string]
	sources      sourceTally
	challenge    ChallengeReport
}

func newTally() *tally {
	return &tally{first: math.MaxInt64, last: math.MinInt64, rules: make(map[ruleKey]*ruleCount)}
}

// crawlerCounts returns the counts of the crawler with a number.
func (t *tally) crawlerCounts(id int32) *crawlerCount {
	for int(id) >= len(t.crawlers) {
		t.crawlers = append(t.crawlers, crawlerCount{})
	}
	return &t.crawlers[id]
}

// addViolation counts a disallowed request for its crawler, its rule and its path.
func (t *tally) addViolation(id, version int32, v policy.Rule, group string, path []byte) {
	t.crawlerCounts(id).disallowed++
	key := ruleKey{id, version, int32(v.Line)}
	r := t.rules[key]
	if r == nil {
		if len(t.rules) == maxRules {
			t.rulesDropped++
		} else {
			r = &ruleCount{rule: v, group: group}
			t.rules[key] = r
		}
	}
	if r != nil {
		r.count++
		r.group = min(r.group, group)
	}
	t.paths.Add(newPathKey(id, path), 1, 0, maxPaths, func(k pathKey) pathKey {
		k.path = strings.Clone(k.path)
		return k
	})
}

// addBrowser counts a request of a browser or of a client without a User-Agent.
func (t *tally) addBrowser(r *logformat.Record) {
	t.browsers++
	if len(r.UserAgent) == 0 {
		t.noUserAgent++
	}
}

// merge adds the counts of another tally. It takes over the other tally's maps.
func (t *tally) merge(o *tally) {
	t.lines += o.lines
	t.malformed += o.malformed
	t.tooLong += o.tooLong
	t.otherLines += o.otherLines
	t.otherSiteLines += o.otherSiteLines
	t.otherTimeLines += o.otherTimeLines
	t.browsers += o.browsers
	t.requests += o.requests
	t.noUserAgent += o.noUserAgent
	t.noHost += o.noHost
	t.beforeFirst += o.beforeFirst
	t.rulesDropped += o.rulesDropped
	t.first, t.last = min(t.first, o.first), max(t.last, o.last)
	for id := range o.crawlers {
		a, b := t.crawlerCounts(int32(id)), &o.crawlers[id]
		a.requests += b.requests
		a.disallowed += b.disallowed
		a.stale += b.stale
		a.exempt += b.exempt
		a.notEnforced += b.notEnforced
		a.robotsRequests += b.robotsRequests
		a.responses.Add(b.responses)
		a.limitedRequests += b.limitedRequests
		a.overLimit += b.overLimit
		a.slowed += b.slowed
		a.delay = max(a.delay, b.delay) // Only orderedResults counts rates.
		a.lastRequest = max(a.lastRequest, b.lastRequest)
		a.addFetch(b.fetchedAt, b.fetchStatus)
	}
	t.sources.merge(&o.sources)
	t.challenge.add(&o.challenge)
	for key, r := range o.rules {
		switch have := t.rules[key]; {
		case have != nil:
			have.count += r.count
			have.group = min(have.group, r.group)
		case len(t.rules) == maxRules:
			t.rulesDropped += r.count
		default:
			t.rules[key] = r
		}
	}
	t.paths.Merge(o.paths, maxPaths)
	t.hosts.Merge(o.hosts, maxHosts)
}

// addFetch records a fetch of the robots.txt, unless a later fetch is recorded.
func (c *crawlerCount) addFetch(at int64, status int) {
	if status > 0 && (c.fetchStatus == 0 || at > c.fetchedAt || at == c.fetchedAt && status < c.fetchStatus) {
		c.fetchedAt, c.fetchStatus = at, status
	}
}
