package registry

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Bounds on memory. Clients can invent any number of names, so a new name replaces the rarest.
const (
	maxNames     = 64
	maxUserAgent = 300 // maxUserAgent is the maximum length in bytes.
	maxName      = 64
)

// minRequests is the minimum number of requests with a name before Proposals returns the name.
const minRequests = 20

// UnregisteredRequest is a request of a client whose name is not in the registry.
type UnregisteredRequest struct {
	Name          string
	Class         uaident.Class
	UserAgent     string
	Network       netip.Prefix
	IsRobotsFetch bool // IsRobotsFetch is true for a fetch of robots.txt, which is not counted as a request.
	Time          time.Time
}

// UnregisteredNames counts requests by client names that are not in the registry. The zero value
// has counted no request. UnregisteredNames is safe for concurrent use.
type UnregisteredNames struct {
	queue       atomic.Pointer[queuedRequest] // This is the last of the requests that are not counted yet.
	queueLength atomic.Int64                  // queueLength is the number of queued requests.

	mu    sync.Mutex
	names map[string]*nameStats // names has at most maxNames names.
}

// queuedRequest is a request that waits to be counted, because another goroutine was counting.
type queuedRequest struct {
	UnregisteredRequest
	previous *queuedRequest
}

// maxQueued is the maximum number of queued requests. At this number Record waits for the lock.
const maxQueued = 4096

// nameStats are the counts of one name.
type nameStats struct {
	name                                 string
	class                                uaident.Class
	count, countError                    uint64
	robotsFetches                        uint64
	firstSeen, lastSeen, lastRobotsFetch time.Time
	userAgent                            string
	networks                             networkSketch
	wave                                 waveDetector
}

// Record counts a request. If 64 names are counted already, a new name replaces the rarest name and
// takes over its count as the possible error. While another goroutine counts, Record only queues
// the request. That goroutine or a later call counts the queued request. Record waits only if the
// queue is full.
func (b *UnregisteredNames) Record(request UnregisteredRequest) {
	if request.Class != uaident.GenericCrawler && request.Class != uaident.Other || !isCaddyfileName(request.Name) {
		return
	}
	if !b.mu.TryLock() {
		if b.enqueue(request) {
			return
		}
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	b.countQueued()
	b.countRequest(request)
}

// enqueue queues a request, which the next goroutine that holds b.mu counts. enqueue returns false
// if the queue is full.
func (b *UnregisteredNames) enqueue(request UnregisteredRequest) bool {
	if b.queueLength.Add(1) > maxQueued {
		b.queueLength.Add(-1)
		return false
	}
	// Without the clone, the whole header would stay in memory.
	request.Name, request.UserAgent = strings.Clone(request.Name), strings.Clone(text.Truncate(request.UserAgent, maxUserAgent))
	queued := &queuedRequest{UnregisteredRequest: request}
	for {
		queued.previous = b.queue.Load()
		if b.queue.CompareAndSwap(queued.previous, queued) {
			return true
		}
	}
}

// countQueued counts the queued requests, oldest first. The caller must lock b.mu.
func (b *UnregisteredNames) countQueued() {
	if b.queue.Load() == nil {
		return
	}
	var queued []*queuedRequest
	for w := b.queue.Swap(nil); w != nil; w = w.previous {
		queued = append(queued, w)
	}
	for _, w := range slices.Backward(queued) {
		b.countRequest(w.UnregisteredRequest)
	}
	b.queueLength.Add(-int64(len(queued)))
}

// countRequest counts a request. The caller must lock b.mu.
func (b *UnregisteredNames) countRequest(request UnregisteredRequest) {
	stats := b.names[request.Name]
	if stats == nil {
		stats = b.addName(request)
	}
	stats.lastSeen = request.Time
	if request.Class == uaident.GenericCrawler {
		stats.class = request.Class
	}
	if request.IsRobotsFetch {
		stats.robotsFetches++
		stats.lastRobotsFetch = request.Time
	} else {
		stats.count++
	}
	if request.Network.IsValid() {
		stats.networks.addNetwork(request.Network)
		if request.Class == uaident.GenericCrawler {
			stats.wave.recordRequest(request.Network, request.Time)
		}
	}
}

// addName adds the name of a request, in place of the rarest name if there is no room. The caller
// must lock b.mu.
func (b *UnregisteredNames) addName(request UnregisteredRequest) *nameStats {
	if b.names == nil {
		b.names = make(map[string]*nameStats)
	}
	stats := new(nameStats)
	if len(b.names) >= maxNames { // The new name takes over the place and the count.
		stats = b.rarestName()
		delete(b.names, stats.name)
		*stats = nameStats{count: stats.count, countError: stats.count}
	}
	stats.name, stats.class, stats.firstSeen = strings.Clone(request.Name), request.Class, request.Time
	stats.userAgent = text.Truncate(text.Printable(text.Truncate(request.UserAgent, maxUserAgent)), maxUserAgent)
	b.names[stats.name] = stats
	return stats
}

// rarestName returns the name with the lowest count. The caller must lock b.mu.
func (b *UnregisteredNames) rarestName() (rarest *nameStats) {
	for _, stats := range b.names {
		if rarest == nil || stats.count < rarest.count {
			rarest = stats
		}
	}
	return rarest
}

// isCaddyfileName reports whether a name can be written in a Caddyfile, perhaps in quotes. The name
// must contain a letter, and may not be longer than maxName.
func isCaddyfileName(name string) bool {
	hasLetter := false
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			hasLetter = true
		case '0' <= c && c <= '9', i > 0 && strings.IndexByte(" ._!-", c) >= 0:
		default:
			return false
		}
	}
	return hasLetter && len(name) <= maxName && name == strings.TrimSpace(name)
}

// Proposals returns the names that the owner may want to add to the registry: names with at least
// minRequests requests that are not in registry. Names of crawlers come first, then names with more
// requests. The result is never nil.
func (b *UnregisteredNames) Proposals(registry *uaident.Registry) []report.RegistryProposal {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.countQueued()
	proposals := []report.RegistryProposal{}
	for name, stats := range b.names {
		c := uaident.Crawler{Token: name, Class: uaident.GenericCrawler}
		if stats.count-stats.countError < minRequests || registry.Lookup(name) != nil || registry.Validate(&c) != nil {
			continue
		}
		proposals = append(proposals, report.RegistryProposal{
			Name: name, Class: stats.class.String(), Requests: stats.count, Error: stats.countError, RobotsFetches: stats.robotsFetches, LastRobotsFetch: stats.lastRobotsFetch.UTC(),
			Networks: stats.networks.estimate(), LastWave: stats.wave.waveStart.UTC(), WaveNetworks: stats.wave.waveMax,
			FirstSeen: stats.firstSeen.UTC(), LastSeen: stats.lastSeen.UTC(), UserAgent: stats.userAgent, Option: caddyfileOption(name),
		})
	}
	slices.SortFunc(proposals, func(a, b report.RegistryProposal) int {
		return cmp.Or(strings.Compare(a.Class, b.Class), cmp.Compare(b.Requests-b.Error, a.Requests-a.Error), strings.Compare(a.Name, b.Name))
	})
	return proposals
}

// caddyfileOption returns the Caddyfile option that adds a crawler with the given name.
func caddyfileOption(name string) string {
	if strings.Contains(name, " ") {
		name = `"` + name + `"`
	}
	return "crawler " + name + " {\n\tclass crawler # or another class, such as search, ai_training or seo\n}"
}
