package metrics

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Host counts the requests of a configured host, and has what is known of its robots.txt: one
// object, for there may be very many. Several goroutines may use it at once.
type Host struct {
	labels  crawlerLabels
	counter hostCounters
	file    file
}

// hosts are the configured hosts of which something is known, by name.
type hosts struct{ cowmap.Large[string, *Host] }

// of returns a host, making it if it is not there.
func (h *hosts) of(name string) *Host {
	if host, ok := h.Load(name); ok {
		return host
	}
	return h.LoadOrStore(name, func() *Host {
		return &Host{counter: hostCounters{began: time.Now().UnixNano()}}
	})
}

// Judged is a judged request, as much of it as tells where it is counted.
type Judged struct {
	Crawler  string        // its name as a registry or the robots.txt spells it, "" for others
	Named    bool          // the robots.txt names it
	Class    uaident.Class // of the client
	Identity verify.State  // how sure it is that the client is who it says
	Verdict  judge.Verdict // by the robots.txt
	Action   judge.Action  // what the guard did
}

// Forget takes the hosts out that no configuration names any more: what is told of one for
// which nobody judges would be so for ever.
func (m *Metrics) Forget(named func(host string) bool) {
	for host := range m.OperatorMetrics.hosts.All() {
		if !named(host) {
			m.OperatorMetrics.hosts.Delete(host)
		}
	}
	m.search.forget(named)
}

// Host returns where requests of a configured host are counted.
func (m *OperatorMetrics) Host(name string) *Host { return m.hosts.of(name) }

// Count counts a request. It returns the label of its crawler.
func (h *Host) Count(j Judged) (crawler string) {
	crawler = j.Crawler // which nearly all have for a label
	switch {
	case j.Identity == verify.Spoofed: // whatever name it uses
		j.Crawler, j.Named, j.Class = "", false, uaident.Other
		crawler = judge.SpoofedName
	case crawler == "":
		crawler = judge.OtherName
	}
	if series, ok := h.counter.series.Load(labelsOf(crawler, &j)); ok && (crawler != judge.OtherName || j.Crawler == "") {
		series.count.Add(1) // without looking for the label
		return series.crawler
	}
	crawler = h.Label(j.Crawler, j.Named, j.Identity)
	h.counter.count(crawler, &j)
	return crawler
}

// Label returns the label of a crawler by its name as a registry or the robots.txt spells
// it, "" for others: clients can invent those.
func (h *Host) Label(name string, named bool, who verify.State) string {
	switch {
	case who == verify.Spoofed:
		return judge.SpoofedName
	case name == "":
		return judge.OtherName
	}
	return h.labels.crawler(name, named)
}
