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

	lastFetch, firstFetch, failingSince, findings, rootDisallowed, rules, crawlDelay, crawlerFetches *prometheus.Desc
}

// fileState is the state of a host's robots.txt.
type fileState struct {
	mu             sync.Mutex
	lastFetch      float64 // timestamps, as the following fields
	firstFetch     float64
	failingSince   float64 // start of the failed fetches, or 0
	crawlDelay     time.Duration
	findings       []finding
	crawlerFetches map[string]float64 // last fetch by crawler
	rules          int32
	rootDisallowed bool // disallows / for crawlers that it does not name
	isFetched      bool // was fetched
}

// finding is a finding of the parser with its count.
type finding struct {
	code  policy.Code
	count int
}

func newFileCollector(name func(string) string, hosts *hosts) fileCollector {
	newDesc := func(metric, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name(metric), help, append([]string{"host"}, labels...), nil)
	}
	return fileCollector{
		hosts:          hosts,
		lastFetch:      newDesc("read_timestamp_seconds", "When the robots.txt of a configured host was last read with success."),
		firstFetch:     newDesc("changed_timestamp_seconds", "Time of the first fetch of the current robots.txt of a configured host."),
		failingSince:   newDesc("unreachable_since_timestamp_seconds", "Since when the robots.txt of a configured host cannot be read; absent while it can."),
		findings:       newDesc("findings", "Findings of the parser in the current robots.txt of a configured host.", "finding"),
		rootDisallowed: newDesc("root_disallowed", "1 if the current robots.txt of a configured host forbids / to crawlers that it does not name, else 0."),
		rules:          newDesc("rules", "Rules in the current robots.txt of a configured host; 0 if there is none."),
		crawlDelay:     newDesc("crawl_delay_seconds", "Crawl-delay of the current robots.txt of a configured host for unnamed crawlers; 0 for none."),
		crawlerFetches: newDesc("crawler_read_timestamp_seconds", "When a crawler last read the robots.txt; absent if it did not since the start.", "crawler"),
	}
}

func (c fileCollector) stateOf(host string) *fileState { return &c.hosts.getOrCreate(host).fileState }

// SetState sets the state of a host after a fetch of its robots.txt.
func (c fileCollector) SetState(host string, s policy.State) {
	f := c.stateOf(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.Failures > 0 {
		f.failingSince = timestamp(s.FailingSince)
		return
	}
	robots := s.Current.Robots
	f.isFetched, f.lastFetch, f.firstFetch, f.failingSince = true, timestamp(s.Current.LastFetched), timestamp(s.Current.FirstFetched), 0
	f.rules, f.rootDisallowed = int32(robots.RuleCount()), disallowsRoot(robots)
	group, _, _ := judge.GroupQuery{Wildcard: true}.Group(robots)
	f.crawlDelay = group.Delay().Interval
	f.findings = nil
	findings, _ := robots.Findings()
	for _, code := range policy.Codes() {
		count := 0
		for _, found := range findings {
			if found.Code == code {
				count++
			}
		}
		if count > 0 {
			f.findings = append(f.findings, finding{code, count})
		}
	}
}

// disallowsRoot reports whether a file disallows / for crawlers that it does not name.
func disallowsRoot(robots *policy.Robots) bool {
	var root policy.Target
	root.Set("/", false)
	return !(judge.GroupQuery{Wildcard: true}).Verdict(robots, &root).Allowed
}

// RecordRobotsFetch records a crawler's robots fetch. It ignores crawlers that share a label value with
// others.
func (c fileCollector) RecordRobotsFetch(host, crawler string, at time.Time) {
	if crawler[0] == '_' {
		return
	}
	f := c.stateOf(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crawlerFetches == nil {
		f.crawlerFetches = make(map[string]float64)
	}
	f.crawlerFetches[crawler] = timestamp(at)
}

// Describe implements [prometheus.Collector].
func (c fileCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.lastFetch, c.firstFetch, c.failingSince, c.findings, c.rootDisallowed, c.rules, c.crawlDelay, c.crawlerFetches} {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c fileCollector) Collect(ch chan<- prometheus.Metric) {
	for name, host := range c.hosts.All() {
		for _, metric := range host.fileState.metrics(c, name) {
			ch <- metric // may block
		}
	}
}

// metrics returns the metrics of a host's file.
func (f *fileState) metrics(c fileCollector, host string) (metrics []prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	addGauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics = append(metrics, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{host}, labels...)...))
	}
	if f.failingSince != 0 {
		addGauge(c.failingSince, f.failingSince)
	}
	for crawler, at := range f.crawlerFetches {
		addGauge(c.crawlerFetches, at, crawler)
	}
	if !f.isFetched {
		return metrics
	}
	addGauge(c.lastFetch, f.lastFetch)
	addGauge(c.firstFetch, f.firstFetch)
	addGauge(c.rules, float64(f.rules))
	addGauge(c.crawlDelay, f.crawlDelay.Seconds())
	root := 0.0
	if f.rootDisallowed {
		root = 1
	}
	addGauge(c.rootDisallowed, root)
	for _, found := range f.findings {
		addGauge(c.findings, float64(found.count), string(found.code))
	}
	return metrics
}
