package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxSearchSeries bounds the crawlers and identities by which a host tells of
// search engines that were blocked. Beyond it they are judge.OtherName, at most one
// more for each identity.
const maxSearchSeries = 6

// searchBlocks tells when search engines were blocked last. It is a time and no
// count: whoever looks at it for the first time knows whether that was just now
// or before.
type searchBlocks struct {
	*prometheus.GaugeVec
	known  sync.Map                         // searchOf to its prometheus.Gauge, so that no request takes a lock; bounded by the labels of crawlers
	mu     sync.Mutex                       // held while known is written
	byHost map[string]map[searchLabels]bool // that have a series
}

type searchLabels struct {
	crawler  string
	identity verify.State
}

// searchOf is who was blocked at a host, whether it has a series of its own or not.
type searchOf struct {
	host string
	searchLabels
}

func newSearchBlocks(name func(string) string) *searchBlocks {
	return &searchBlocks{
		GaugeVec: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("search_blocked_timestamp_seconds"),
			Help: "When a search engine was last blocked by a rule that does not name it; absent if none was since the start.",
		}, []string{"host", "crawler", "identity"}),
		byHost: make(map[string]map[searchLabels]bool),
	}
}

// SearchBlocked notes that a search engine was blocked by a rule that does not
// name it, see [judge.Result.BlocksSearch].
func (m *OperatorMetrics) SearchBlocked(host, crawler string, identity verify.State, at time.Time) {
	b, of := m.search, searchOf{host, searchLabels{crawler, identity}}
	gauge, ok := b.known.Load(of)
	if !ok {
		gauge = b.gauge(of)
	}
	gauge.(prometheus.Gauge).Set(timestamp(at))
}

// gauge returns the series of these labels, or one that they share with others.
func (b *searchBlocks) gauge(of searchOf) prometheus.Gauge {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, labels := b.byHost[of.host], of.searchLabels
	if known == nil {
		known = make(map[searchLabels]bool)
		b.byHost[of.host] = known
	}
	if !known[labels] && len(known) >= maxSearchSeries {
		labels.crawler = judge.OtherName
	}
	known[labels] = true
	gauge := b.WithLabelValues(of.host, labels.crawler, labels.identity.String())
	b.known.Store(of, gauge)
	return gauge
}

// forget takes the series of hosts out that are not named any more.
func (b *searchBlocks) forget(named func(host string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for host := range b.byHost {
		if !named(host) {
			delete(b.byHost, host)
			b.DeletePartialMatch(prometheus.Labels{"host": host})
		}
	}
	b.known.Range(func(of, _ any) bool {
		if !named(of.(searchOf).host) {
			b.known.Delete(of)
		}
		return true
	})
}
