package metrics

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Host counts the requests of a configured host and contains the state of its robots.txt. All data
// are in a single object, because the number of hosts can be large. Host is safe for concurrent
// use.
type Host struct {
	crawlerLabels crawlerLabels
	counters      hostCounters
	fileState     fileState
}

// hosts are the known configured hosts by name.
type hosts struct{ cowmap.LargeMap[string, *Host] }

// getOrCreate returns a host, created if necessary.
func (h *hosts) getOrCreate(name string) *Host {
	if host, ok := h.Load(name); ok {
		return host
	}
	return h.LoadOrStore(name, func() *Host {
		return &Host{counters: hostCounters{createdAt: time.Now().UnixNano()}}
	})
}

// JudgedRequest contains the labels of a request with a verdict.
type JudgedRequest struct {
	Crawler       string        // name in the registry or robots.txt, or "" for others
	NamedByRobots bool          // named by the robots.txt
	Class         uaident.Class // of the client
	Identity      verify.State  // result of the verification
	Verdict       judge.Verdict // by the robots.txt
	Action        judge.Action  // action of the guard
}

// RemoveHosts removes the hosts no longer in any configuration.
func (m *Metrics) RemoveHosts(isConfigured func(host string) bool) {
	for host := range m.hosts.All() {
		if !isConfigured(host) {
			m.hosts.Delete(host)
		}
	}
}

// Host returns the counters of a configured host.
func (m *Metrics) Host(name string) *Host { return m.hosts.getOrCreate(name) }

// Count records a request and returns its crawler label.
func (h *Host) Count(j JudgedRequest) (crawler string) {
	crawler = j.Crawler // the label of nearly all crawlers
	switch {
	case j.Identity == verify.Spoofed: // whatever name it uses
		j.Crawler, j.NamedByRobots, j.Class = "", false, uaident.Other
		crawler = judge.SpoofedName
	case crawler == "":
		crawler = judge.OtherName
	}
	if series, ok := h.counters.series.Load(newRequestLabels(crawler, &j)); ok && (crawler != judge.OtherName || j.Crawler == "") {
		series.count.Add(1) // skips the lookup of the label
		return series.crawler
	}
	crawler = h.Label(j.Crawler, j.NamedByRobots, j.Identity)
	h.counters.count(crawler, &j)
	return crawler
}

// Label returns the label of a crawler. name is the name in the registry or robots.txt, or "" for
// any other name, which clients can invent.
func (h *Host) Label(name string, isNamed bool, identity verify.State) string {
	switch {
	case identity == verify.Spoofed:
		return judge.SpoofedName
	case name == "":
		return judge.OtherName
	}
	return h.crawlerLabels.label(name, isNamed)
}
