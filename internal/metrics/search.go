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
	gauges sync.Map                         // maps searchBlockKey to prometheus.Gauge without locks; bounded by the labels of crawlers
	mu     sync.Mutex                       // held during writes of known
	byHost map[string]map[searchLabels]bool // labels with a series
}

type searchLabels struct {
	crawler  string
	identity verify.State
}

// searchBlockKey identifies a blocked crawler at a host, with or without a series of its own.
type searchBlockKey struct {
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

// RecordSearchBlock records the block of a search engine by a rule for other crawlers. See
// [judge.Result.BlocksSearch].
func (m *OperatorMetrics) RecordSearchBlock(host, crawler string, identity verify.State, at time.Time) {
	b, key := m.searchBlocks, searchBlockKey{host, searchLabels{crawler, identity}}
	gauge, ok := b.gauges.Load(key)
	if !ok {
		gauge = b.gauge(key)
	}
	gauge.(prometheus.Gauge).Set(timestamp(at))
}

// gauge returns the series of a crawler, or a shared series.
func (b *searchBlocks) gauge(key searchBlockKey) prometheus.Gauge {
	b.mu.Lock()
	defer b.mu.Unlock()
	hostLabels, labels := b.byHost[key.host], key.searchLabels
	if hostLabels == nil {
		hostLabels = make(map[searchLabels]bool)
		b.byHost[key.host] = hostLabels
	}
	if !hostLabels[labels] && len(hostLabels) >= maxSearchSeries {
		labels.crawler = judge.OtherName
	}
	hostLabels[labels] = true
	gauge := b.WithLabelValues(key.host, labels.crawler, labels.identity.String())
	b.gauges.Store(key, gauge)
	return gauge
}

// removeHosts removes the series of hosts that are no longer named.
func (b *searchBlocks) removeHosts(isConfigured func(host string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for host := range b.byHost {
		if !isConfigured(host) {
			delete(b.byHost, host)
			b.DeletePartialMatch(prometheus.Labels{"host": host})
		}
	}
	b.gauges.Range(func(key, _ any) bool {
		if !isConfigured(key.(searchBlockKey).host) {
			b.gauges.Delete(key)
		}
		return true
	})
}
