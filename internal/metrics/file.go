package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// fileCollector collects the state of the robots.txt of each configured host. It stores a few
// words for each host, since a gauge for each value would need kilobytes.
type fileCollector struct {
	hosts *hosts

	read, changed, failing, findings, root, rules, delay, crawlers *prometheus.Desc
}

// file is the state of a host's robots.txt.
type file struct {
	mu       sync.Mutex
	read     float64 // timestamps, as the following fields
	changed  float64
	failing  float64 // start of the failed fetches, or 0
	delay    time.Duration
	findings []finding
	crawlers map[string]float64 // last fetch by crawler
	rules    int32
	root     bool // disallows / for crawlers that it does not name
	known    bool // was fetched
}

// finding is a finding of the parser with its count.
type finding struct {
	code  policy.Code
	times int
}

func newFileCollector(name func(string) string, hosts *hosts) fileCollector {
	byHost := func(what, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name(what), help, append([]string{"host"}, labels...), nil)
	}
	return fileCollector{
		hosts:    hosts,
		read:     byHost("read_timestamp_seconds", "When the robots.txt of a configured host was last read with success."),
		changed:  byHost("changed_timestamp_seconds", "Time of the first fetch of the current robots.txt of a configured host."),
		failing:  byHost("unreachable_since_timestamp_seconds", "Since when the robots.txt of a configured host cannot be read; absent while it can."),
		findings: byHost("findings", "Findings of the parser in the current robots.txt of a configured host.", "finding"),
		root:     byHost("root_disallowed", "1 if the current robots.txt of a configured host forbids / to crawlers that it does not name, else 0."),
		rules:    byHost("rules", "Rules in the current robots.txt of a configured host; 0 if there is none."),
		delay:    byHost("crawl_delay_seconds", "Crawl-delay of the current robots.txt of a configured host for unnamed crawlers; 0 for none."),
		crawlers: byHost("crawler_read_timestamp_seconds", "When a crawler last read the robots.txt; absent if it did not since the start.", "crawler"),
	}
}

func (c fileCollector) of(host string) *file { return &c.hosts.of(host).file }

// SetState sets the state of a host after a fetch of its robots.txt.
func (c fileCollector) SetState(host string, s policy.State) {
	f := c.of(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.Failures > 0 {
		f.failing = timestamp(s.FailingSince)
		return
	}
	robots := s.Good.Robots
	f.known, f.read, f.changed, f.failing = true, timestamp(s.Good.LastRead), timestamp(s.Good.FirstRead), 0
	f.rules, f.root = int32(robots.RuleCount()), shutsOut(robots)
	group, _, _ := judge.Subject{Wildcard: true}.Group(robots)
	f.delay = group.Delay().Every
	f.findings = nil
	all, _ := robots.Findings()
	for _, code := range policy.Codes() {
		times := 0
		for _, one := range all {
			if one.Code == code {
				times++
			}
		}
		if times > 0 {
			f.findings = append(f.findings, finding{code, times})
		}
	}
}

// shutsOut reports whether a file disallows / for crawlers that it does not name.
func shutsOut(robots *policy.Robots) bool {
	var root policy.Target
	root.Set("/", false)
	return !(judge.Subject{Wildcard: true}).Verdict(robots, &root).Allowed
}

// ReadBy records a crawler's robots fetch. It ignores crawlers that share a label value with
// others.
func (c fileCollector) ReadBy(host, crawler string, at time.Time) {
	if crawler[0] == '_' {
		return
	}
	f := c.of(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crawlers == nil {
		f.crawlers = make(map[string]float64)
	}
	f.crawlers[crawler] = timestamp(at)
}

// Describe implements [prometheus.Collector].
func (c fileCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.read, c.changed, c.failing, c.findings, c.root, c.rules, c.delay, c.crawlers} {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c fileCollector) Collect(ch chan<- prometheus.Metric) {
	for name, host := range c.hosts.All() {
		for _, metric := range host.file.metrics(c, name) {
			ch <- metric // may block
		}
	}
}

// metrics returns the metrics of a host's file.
func (f *file) metrics(c fileCollector, host string) (all []prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	show := func(desc *prometheus.Desc, value float64, labels ...string) {
		all = append(all, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{host}, labels...)...))
	}
	if f.failing != 0 {
		show(c.failing, f.failing)
	}
	for crawler, at := range f.crawlers {
		show(c.crawlers, at, crawler)
	}
	if !f.known {
		return all
	}
	show(c.read, f.read)
	show(c.changed, f.changed)
	show(c.rules, float64(f.rules))
	show(c.delay, f.delay.Seconds())
	root := 0.0
	if f.root {
		root = 1
	}
	show(c.root, root)
	for _, one := range f.findings {
		show(c.findings, float64(one.times), string(one.code))
	}
	return all
}
