package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxSearchSeries is the maximum number of crawlers with an identity in the series of one
// host. Further crawlers are judge.OtherName, with one more series for each identity.
const maxSearchSeries = 6

// searchBlocks contain the time of the last block of each search engine. A timestamp shows
// whether the block is recent, unlike a counter.
type searchBlocks struct {
	*prometheus.GaugeVec
	known  sync.Map                         // maps searchOf to prometheus.Gauge without locks; bounded by the labels of crawlers
	mu     sync.Mutex                       // held during writes of known
	byHost map[string]map[searchLabels]bool // labels with a series
}

type searchLabels struct {
	crawler  string
	identity verify.State
}

// searchOf identifies a blocked crawler at a host, with or without a series of its own.
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

// SearchBlocked records the block of a search engine by a rule for other crawlers. See
// [judge.Result.BlocksSearch].
func (m *OperatorMetrics) SearchBlocked(host, crawler string, identity verify.State, at time.Time) {
	b, of := m.search, searchOf{host, searchLabels{crawler, identity}}
	gauge, ok := b.known.Load(of)
	if !ok {
		gauge = b.gauge(of)
	}
	gauge.(prometheus.Gauge).Set(timestamp(at))
}

// gauge returns the series of a crawler, or a shared series.
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

// forget removes the series of hosts that are no longer named.
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
