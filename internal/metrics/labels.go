package metrics

import (
	"strings"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// maxCrawlerLabels bounds the values of the crawler label for one host.
const maxCrawlerLabels = 40

// ownersShare is how many of them are kept for names that the robots.txt of
// the host spells out, whatever else comes by before these.
const ownersShare = 20

// crawlerLabels remembers which crawlers have a label value of their own at a host. A value
// is never taken back or given to another crawler, so that a time series stays what it was.
type crawlerLabels struct {
	mu     sync.Mutex
	names  cowmap.Map[string, string] // each with its label, in memory that hosts share and no robots.txt, which may have spelled it
	others atomic.Int32               // names that no robots.txt spelled out
}

// crawler returns the label value of a crawler: its name, or judge.OtherName if the host
// has no room for it. named says that the host's robots.txt names it.
func (c *crawlerLabels) crawler(name string, named bool) string {
	label, ok := c.known(name, named)
	if ok {
		return label
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if label, ok := c.known(name, named); ok {
		return label
	}
	if !named {
		c.others.Add(1)
	}
	name = unique.Make(name).Value()
	label = strings.ToValidUTF8(name, "?") // one that is no text would fail all metrics
	c.names.Store(name, label)
	return label
}

// known returns the label value of a crawler that has one, or for which there is
// no room.
func (c *crawlerLabels) known(name string, named bool) (label string, ok bool) {
	if label, ok := c.names.Load(name); ok {
		return label, true
	}
	if c.names.Len() >= maxCrawlerLabels || !named && c.others.Load() >= maxCrawlerLabels-ownersShare {
		return judge.OtherName, true
	}
	return "", false
}
