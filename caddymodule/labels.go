package caddymodule

import (
	"maps"
	"sync"
	"sync/atomic"
)

// maxCrawlerLabels bounds the values of the crawler label for one host.
const maxCrawlerLabels = 40

// ownersShare is how many of them are kept for names that the robots.txt of
// the host spells out, whatever else comes by before these.
const ownersShare = 20

// labels remembers which crawlers have a label value of their own. A value is
// never taken back or given to another crawler, so that a time series stays
// what it was. What it holds is bounded by the configured hosts.
type labels struct {
	mu     sync.Mutex
	byHost atomic.Pointer[map[string]*crawlerLabels] // copied on write
}

type crawlerLabels struct {
	mu     sync.Mutex
	names  atomic.Pointer[map[string]bool] // copied on write
	others atomic.Int32                    // names that no robots.txt spelled out
}

func newLabels() *labels { return new(labels) }

// crawler returns the label value of a crawler: its name, or otherLabel if the
// host has no room for it. named says that the host's robots.txt names it.
func (l *labels) crawler(host, name string, named bool) string {
	return l.host(host).crawler(name, named)
}

func (l *labels) host(host string) *crawlerLabels {
	if known := l.byHost.Load(); known != nil {
		if c := (*known)[host]; c != nil {
			return c
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := make(map[string]*crawlerLabels)
	if known := l.byHost.Load(); known != nil {
		if c := (*known)[host]; c != nil {
			return c
		}
		changed = maps.Clone(*known)
	}
	c := new(crawlerLabels)
	changed[host] = c
	l.byHost.Store(&changed)
	return c
}

func (c *crawlerLabels) crawler(name string, named bool) string {
	if label, ok := c.known(name, named); ok {
		return label
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if label, ok := c.known(name, named); ok {
		return label
	}
	changed := make(map[string]bool)
	if known := c.names.Load(); known != nil {
		changed = maps.Clone(*known)
	}
	if !named {
		c.others.Add(1)
	}
	changed[name] = true
	c.names.Store(&changed)
	return name
}

// known returns the label value of a crawler that has one, or for which there is
// no room.
func (c *crawlerLabels) known(name string, named bool) (label string, ok bool) {
	known := c.names.Load()
	switch {
	case known == nil:
		return "", false
	case (*known)[name]:
		return name, true
	case len(*known) >= maxCrawlerLabels, !named && c.others.Load() >= maxCrawlerLabels-ownersShare:
		return otherLabel, true
	}
	return "", false
}
