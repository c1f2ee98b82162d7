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
	known  sync.Map // searchOf to its prometheus.Gauge, so that no request takes a lock; bounded by the labels of crawlers
	mu     sync.Mutex
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
// name it, see [judge.Result.ShutsOutSearch].
func (m *OperatorMetrics) SearchBlocked(host, crawler string, identity verify.State, at time.Time) {
	b, of := m.search, searchOf{host, searchLabels{crawler, identity}}
	gauge, ok := b.known.Load(of)
	if !ok {
		gauge = b.gauge(host, of.searchLabels)
		b.known.Store(of, gauge)
	}
	gauge.(prometheus.Gauge).Set(timestamp(at))
}

// gauge returns the series of these labels, or one that they share with others.
func (b *searchBlocks) gauge(host string, labels searchLabels) prometheus.Gauge {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.byHost[host]
	if known == nil {
		known = make(map[searchLabels]bool)
		b.byHost[host] = known
	}
	if !known[labels] && len(known) >= maxSearchSeries {
		labels.crawler = judge.OtherName
	}
	known[labels] = true
	return b.WithLabelValues(host, labels.crawler, labels.identity.String())
}
