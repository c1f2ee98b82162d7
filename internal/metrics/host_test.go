package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestHostCountsAsOneByOne counts the same requests by a host, which knows where those
// like them went, and each by its labels.
func TestHostCountsAsOneByOne(t *testing.T) {
	fast, slow := New(nothing{}, kinds, results), New(nothing{}, kinds, results)
	one := slow.HostMetrics("a.example")
	for range 3 {
		for i := range 60 { // more than have a label
			name := fmt.Sprintf("bot%d", i)
			switch i % 7 {
			case 0:
				name = "" // a client invented it
			case 1: // as a robots.txt may call one
				name = [...]string{judge.OtherName, judge.SpoofedName, "bot\xff"}[i%3]
			}
			worstJudgements(func(class uaident.Class, who verify.State, v judge.Verdict, a judge.Action) {
				j := JudgedRequest{name, i%2 == 0, class, who, v, a}
				got, label := fast.HostMetrics("a.example").CountRequest(j), one.CrawlerLabel(name, i%2 == 0, who)
				if who == verify.Spoofed {
					j.Crawler, j.Class = "", uaident.Other
				}
				one.counters.countRequest(label, &j)
				if got != label {
					t.Fatalf("%s %v: the label is %s, want %s", name, who, got, label)
				}
			})
		}
	}
	if got, want := requestsOf(t, fast), requestsOf(t, slow); !maps.Equal(got, want) || len(want) < maxRequestSeries {
		t.Errorf("%d series, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
}

// TestHostKnowsLiarsByWhatTheyAre counts those who use false names at one place.
func TestHostKnowsLiarsByWhatTheyAre(t *testing.T) {
	h := New(nothing{}, kinds, results).HostMetrics("a.example")
	for i := range 1000 {
		h.CountRequest(JudgedRequest{Crawler: fmt.Sprintf("bot%d", i), NamedByRobots: i%2 == 0, Class: uaident.Classes()[i%5], Identity: verify.Spoofed})
	}
	if n := h.counters.series.Len(); n != 1 {
		t.Errorf("there are %d series, want 1", n)
	}
}

// TestHostCountAllocatesNothing for a request like others.
func TestHostCountAllocatesNothing(t *testing.T) {
	h := New(nothing{}, kinds, results).HostMetrics("a.example")
	j := JudgedRequest{Crawler: "Googlebot", Class: uaident.Search}
	h.CountRequest(j)
	if n := testing.AllocsPerRun(100, func() { h.CountRequest(j) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCountsAllocateNothing counts requests and responses like earlier ones.
func TestCountsAllocateNothing(t *testing.T) {
	m := New(nothing{}, kinds, results)
	count := func() {
		m.CountVerification(verify.ReverseDNS, verify.Verified)
		m.CountRatedRequest(uaident.Search, rate.OverRate)
		m.ObserveFirstByte(uaident.Search, time.Second)
		m.CountResponse(uaident.Search, responseaudit.KindAllowed, responseaudit.StatusSuccess, 1)
		m.CountCacheLookup(true)
		m.CountShadowVerdict(shadow.Same)
	}
	count()
	if n := testing.AllocsPerRun(100, count); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// requestsOf returns the requests that are counted, by their labels, and those that were
// summed up.
func requestsOf(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]float64)
	for _, family := range families {
		if name := family.GetName(); name != "caddy_robots_guard_requests_total" && name != "caddy_robots_guard_label_overflow_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			if c := metric.GetCounter(); family.GetName() == "caddy_robots_guard_requests_total" && c.GetCreatedTimestamp().AsTime().Year() < 2020 {
				t.Fatal("a series does not say when it began")
			}
			counts[family.GetName()+fmt.Sprint(metric.GetLabel())] = metric.GetCounter().GetValue()
		}
	}
	return counts
}

// BenchmarkHostCount counts requests of many crawlers at many hosts.
func BenchmarkHostCount(b *testing.B) {
	m := New(nothing{}, kinds, results)
	hosts, names := make([]*HostMetrics, 1000), make([]string, 20)
	for i := range hosts {
		hosts[i] = m.HostMetrics(fmt.Sprintf("s%d.example", i))
	}
	for i := range names {
		names[i] = uaident.Default().Crawlers()[i].Token
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		hosts[i*7919%len(hosts)].CountRequest(JudgedRequest{Crawler: names[i%len(names)], Class: uaident.Search, Verdict: judge.Allowed})
	}
}

// BenchmarkHostMemory tells what is kept of a host of which five crawlers have asked for a
// page and two for the robots.txt.
func BenchmarkHostMemory(b *testing.B) {
	const hosts = 2000
	state := policy.State{}.AfterFetch(policy.FetchResult{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /x\n")}, time.Now(), policy.FreshnessPolicy{Max: time.Hour}, 0)
	var before, after runtime.MemStats
	for b.Loop() {
		m := New(nothing{}, kinds, results)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			m.SetRobotsState(host, state)
			for j := range 5 {
				label := m.HostMetrics(host).CountRequest(JudgedRequest{Crawler: fmt.Sprintf("bot%d", j)})
				if j < 2 {
					m.RecordRobotsFetch(host, label, time.Now())
				}
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(m)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/hosts, "B/host")
	b.ReportMetric(float64(after.HeapObjects-before.HeapObjects)/hosts, "objects/host")
}

// TestForget takes a host out of the configuration: nothing is told of it any more, and what
// comes when it is back begins anew.
func TestForget(t *testing.T) {
	m := New(nothing{}, kinds, results)
	note := func(host string) {
		m.HostMetrics(host).CountRequest(JudgedRequest{Crawler: "Googlebot", Class: uaident.Search})
		m.SetRobotsState(host, policy.State{FailureCount: 1, FailingSince: time.Unix(1000, 0)})
	}
	series := func() map[string]int {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(m.registry)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		n := make(map[string]int)
		for _, family := range families {
			for _, one := range family.GetMetric() {
				for _, label := range one.GetLabel() {
					if label.GetName() == "host" {
						n[label.GetValue()]++
					}
				}
			}
		}
		return n
	}
	note("stays.test")
	note("goes.test")
	before := series()
	if before["stays.test"] != 3 || before["goes.test"] != 3 {
		t.Fatalf("before there are %v", before)
	}
	m.RemoveHosts(func(host string) bool { return host == "stays.test" })
	if got := series(); len(got) != 1 || got["stays.test"] != 3 {
		t.Errorf("left are %v", got)
	}
	note("goes.test")
	if got := series(); !maps.Equal(got, before) {
		t.Errorf("back are %v, want %v", got, before)
	}
}
