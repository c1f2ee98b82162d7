package metrics

import (
	"strings"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// maxCrawlerLabels is the maximum number of crawler label values of one host.
const maxCrawlerLabels = 40

// reservedLabels is the number of values reserved for names in the host's robots.txt.
const reservedLabels = 20

// crawlerLabels are the crawlers that have a label value of their own at a host. A value is never
// removed or used for another crawler, so that a time series never changes its meaning.
type crawlerLabels struct {
	mu sync.Mutex
	// names has the label by the name. The strings do not share memory with a robots.txt.
	names cowmap.Map[string, string]
	// unnamedCount is the number of labels of crawlers that the robots.txt does not name.
	unnamedCount atomic.Int32
}

// getOrCreateLabel returns the label value of a crawler: its name, or judge.OtherName if the host
// has too many values. isNamed reports whether the host's robots.txt names the crawler.
func (c *crawlerLabels) getOrCreateLabel(name string, isNamed bool) string {
	label, ok := c.findLabel(name, isNamed)
	if ok {
		return label
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if label, ok := c.findLabel(name, isNamed); ok {
		return label
	}
	if !isNamed {
		c.unnamedCount.Add(1)
	}
	name = unique.Make(name).Value()
	label = strings.ToValidUTF8(name, "?") // With invalid UTF-8, Prometheus would reject all metrics.
	c.names.Store(name, label)
	return label
}

// findLabel returns the label value of a crawler: its existing value, or judge.OtherName if the
// host has too many values. ok is false if the crawler can get a new value.
func (c *crawlerLabels) findLabel(name string, isNamed bool) (label string, ok bool) {
	if label, ok := c.names.Load(name); ok {
		return label, true
	}
	if c.names.Len() >= maxCrawlerLabels || !isNamed && c.unnamedCount.Load() >= maxCrawlerLabels-reservedLabels {
		return judge.OtherName, true
	}
	return "", false
}
