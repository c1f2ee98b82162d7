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
	mu     sync.Mutex
	byHost map[string]map[searchLabels]bool // that have a series
}

type searchLabels struct {
	crawler  string
	identity verify.State
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
	b := m.search
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.byHost[host]
	if known == nil {
		known = make(map[searchLabels]bool)
		b.byHost[host] = known
	}
	labels := searchLabels{crawler, identity}
	if !known[labels] && len(known) >= maxSearchSeries {
		labels.crawler = judge.OtherName
	}
	known[labels] = true
	b.WithLabelValues(host, labels.crawler, labels.identity.String()).Set(timestamp(at))
}
