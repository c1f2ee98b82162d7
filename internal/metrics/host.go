package metrics

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// HostMetrics counts the requests to one configured host, and has the state of its robots.txt. One
// object holds all data of a host, because there can be many hosts. HostMetrics is safe for
// concurrent use.
type HostMetrics struct {
	crawlerLabels crawlerLabels
	counters      hostCounters
	fileState     fileState
}

// hosts are the metrics of all configured hosts, by name.
type hosts struct {
	cowmap.LargeMap[string, *HostMetrics]
}

// getOrCreate returns the metrics of a host, created if necessary.
func (h *hosts) getOrCreate(name string) *HostMetrics {
	if host, ok := h.Load(name); ok {
		return host
	}
	return h.LoadOrStore(name, func() *HostMetrics {
		return &HostMetrics{counters: hostCounters{createdAt: time.Now().UnixNano()}}
	})
}

// JudgedRequest has the labels of a request about which the guard decided.
type JudgedRequest struct {
	Crawler       string        // Crawler is a name in the registry or the robots.txt, or "" for other names.
	NamedByRobots bool          // NamedByRobots reports whether the robots.txt names the crawler.
	Class         uaident.Class // Class is the class of the client.
	Identity      verify.State  // Identity is the result of the verification.
	Verdict       judge.Verdict // Verdict is the verdict by the robots.txt.
	Action        judge.Action  // Action is the action of the guard.
}

// RemoveHosts removes the metrics of all hosts for which isConfigured returns false.
func (m *Metrics) RemoveHosts(isConfigured func(host string) bool) {
	for host := range m.hosts.All() {
		if !isConfigured(host) {
			m.hosts.Delete(host)
		}
	}
}

// HostMetrics returns the metrics of a configured host, created if necessary.
func (m *Metrics) HostMetrics(name string) *HostMetrics { return m.hosts.getOrCreate(name) }

// CountRequest counts a request, and returns the label of its crawler.
func (h *HostMetrics) CountRequest(j JudgedRequest) (crawler string) {
	crawler = j.Crawler // This is the label of nearly all crawlers.
	switch {
	case j.Identity == verify.Spoofed: // The name does not matter, since anybody can use it.
		j.Crawler, j.NamedByRobots, j.Class = "", false, uaident.Other
		crawler = judge.SpoofedName
	case crawler == "":
		crawler = judge.OtherName
	}
	if series, ok := h.counters.series.Load(newRequestLabels(crawler, &j)); ok && (crawler != judge.OtherName || j.Crawler == "") {
		series.count.Add(1) // This avoids the lookup of the label.
		return series.crawler
	}
	crawler = h.CrawlerLabel(j.Crawler, j.NamedByRobots, j.Identity)
	h.counters.countRequest(crawler, &j)
	return crawler
}

// CrawlerLabel returns the label of a crawler. name is its name in the registry or in robots.txt,
// or "" for any other name, which clients can invent. isNamed reports whether the host's robots.txt
// names the crawler.
func (h *HostMetrics) CrawlerLabel(name string, isNamed bool, identity verify.State) string {
	switch {
	case identity == verify.Spoofed:
		return judge.SpoofedName
	case name == "":
		return judge.OtherName
	}
	return h.crawlerLabels.getOrCreateLabel(name, isNamed)
}
