package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// fileCollector collects the metrics about the robots.txt of each configured host. It stores a few
// numbers for each host, because a gauge for each number would need kilobytes.
type fileCollector struct {
	hosts *hosts

	lastFetch, firstFetch, failingSince, findings, rootDisallowed, rules, crawlDelay, crawlerFetches *prometheus.Desc
}

// fileState is the state of the robots.txt of one host.
type fileState struct {
	mu             sync.Mutex
	lastFetch      float64 // This and the following times are Unix timestamps in seconds.
	firstFetch     float64
	failingSince   float64 // failingSince is the start of the failed fetches, or 0.
	crawlDelay     time.Duration
	findings       map[policy.Code]int // findings has the number of findings of the parser for each code.
	crawlerFetches map[string]float64  // crawlerFetches has the last fetch of each crawler.
	rules          int32
	rootDisallowed float64 // rootDisallowed is 1 if the file disallows / for crawlers that it does not name, else 0.
	isFetched      bool    // isFetched is true after the first fetch.
}

func newFileCollector(b metricBuilder, hosts *hosts) fileCollector {
	c := fileCollector{
		hosts:          hosts,
		lastFetch:      b.newDesc("read_timestamp_seconds", "Time of the last successful fetch of the robots.txt of a configured host.", "host"),
		firstFetch:     b.newDesc("changed_timestamp_seconds", "Time of the first fetch of the current robots.txt of a configured host.", "host"),
		failingSince:   b.newDesc("unreachable_since_timestamp_seconds", "Time since which the robots.txt of a configured host cannot be fetched; absent while it can.", "host"),
		findings:       b.newDesc("findings", "Findings of the parser in the current robots.txt of a configured host.", "host", "finding"),
		rootDisallowed: b.newDesc("root_disallowed", "1 if the current robots.txt of a configured host forbids / to crawlers that it does not name, else 0.", "host"),
		rules:          b.newDesc("rules", "Rules in the current robots.txt of a configured host; 0 if there is none.", "host"),
		crawlDelay:     b.newDesc("crawl_delay_seconds", "Crawl-delay of the current robots.txt of a configured host for unnamed crawlers; 0 for none.", "host"),
		crawlerFetches: b.newDesc("crawler_read_timestamp_seconds", "Time of the last request of a crawler for the robots.txt; absent without one since the start.", "host", "crawler"),
	}
	b.registerCollector(c.collect, c.lastFetch, c.firstFetch, c.failingSince, c.findings, c.rootDisallowed, c.rules, c.crawlDelay, c.crawlerFetches)
	return c
}

func (c fileCollector) getOrCreateFileState(host string) *fileState {
	return &c.hosts.getOrCreate(host).fileState
}

// SetRobotsState sets the state of a host's robots.txt after a fetch.
func (c fileCollector) SetRobotsState(host string, s policy.State) {
	f := c.getOrCreateFileState(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.FailureCount > 0 {
		f.failingSince = unixSeconds(s.FailingSince)
		return
	}
	robots := s.Current.Robots
	f.isFetched, f.lastFetch, f.firstFetch, f.failingSince = true, unixSeconds(s.Current.LastFetched), unixSeconds(s.Current.FirstFetched), 0
	f.rules, f.rootDisallowed = int32(robots.RuleCount()), rootDisallowedValue(robots)
	group, _, _ := judge.GroupQuery{WildcardApplies: true}.Group(robots)
	f.crawlDelay = group.Delay().Interval
	f.findings = nil
	if findings, _ := robots.Findings(); len(findings) > 0 {
		f.findings = make(map[policy.Code]int)
		for _, found := range findings {
			f.findings[found.Code]++
		}
	}
}

// rootDisallowedValue returns 1 if a robots.txt disallows / for crawlers without a group of their
// own, else 0.
func rootDisallowedValue(robots *policy.Robots) float64 {
	var root policy.Target
	root.Set("/", false)
	if (judge.GroupQuery{WildcardApplies: true}).Verdict(robots, &root).Allowed {
		return 0
	}
	return 1
}

// RecordRobotsFetch records that a crawler requested the robots.txt of a host. crawler is its
// label. A label that crawlers share, such as _other, is ignored.
func (c fileCollector) RecordRobotsFetch(host, crawler string, at time.Time) {
	if crawler[0] == '_' {
		return
	}
	f := c.getOrCreateFileState(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crawlerFetches == nil {
		f.crawlerFetches = make(map[string]float64)
	}
	f.crawlerFetches[crawler] = unixSeconds(at)
}

// collect sends the metrics about the robots.txt of all hosts.
func (c fileCollector) collect(ch metricSink) {
	for name, host := range c.hosts.All() {
		for _, metric := range c.newFileMetrics(&host.fileState, name) {
			ch <- metric // ch is used without the lock, because a send can block.
		}
	}
}

// newFileMetrics returns the metrics about the robots.txt of a host.
func (c fileCollector) newFileMetrics(f *fileState, host string) (all []prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	add := func(desc *prometheus.Desc, value float64, labels ...string) {
		all = append(all, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{host}, labels...)...))
	}
	if f.failingSince != 0 {
		add(c.failingSince, f.failingSince)
	}
	for crawler, at := range f.crawlerFetches {
		add(c.crawlerFetches, at, crawler)
	}
	if !f.isFetched {
		return all
	}
	add(c.lastFetch, f.lastFetch)
	add(c.firstFetch, f.firstFetch)
	add(c.rules, float64(f.rules))
	add(c.crawlDelay, f.crawlDelay.Seconds())
	add(c.rootDisallowed, f.rootDisallowed)
	for code, count := range f.findings {
		add(c.findings, float64(count), string(code))
	}
	return all
}
