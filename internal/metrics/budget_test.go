package metrics

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// gatherAll gathers all metrics of the module.
func gatherAll(t *testing.T, m *Metrics) (total int) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return checkFamilies(t, families)
}

// worstJudgements calls f with every combination that a judgement can have.
func worstJudgements(f func(class uaident.Class, who verify.State, v judge.Verdict, a judge.Action)) {
	for _, class := range uaident.Classes() {
		for who := verify.Claimed; who <= verify.Spoofed; who++ {
			for v := judge.Allowed; v <= judge.Unknown; v++ {
				for a := judge.NoAction; a <= judge.Slowed; a++ {
					none, refused := a == judge.NoAction, v == judge.Disallowed
					switch {
					case a == judge.Slowed: // whatever the verdict is
					case none && refused, !none && !refused && v != judge.Unknown && who != verify.Spoofed:
						continue // what is allowed is stopped for those under a false name only
					}
					f(class, who, v, a)
				}
			}
		}
	}
}

// manyBlocks is a state with as many blocked search engines as are recorded.
type manyBlocks struct{ nothing }

func (manyBlocks) BlockedSearchEngines() map[alert.BlockedSearchEngine]time.Time {
	blocks := make(map[alert.BlockedSearchEngine]time.Time)
	for i := range alert.MaxBlocks {
		blocks[alert.BlockedSearchEngine{Site: fmt.Sprint("h", i)}] = time.Now()
	}
	return blocks
}

// TestSeriesBudget has every label value that there is, on 20 hosts.
func TestSeriesBudget(t *testing.T) {
	m := New(manyBlocks{}, kinds, results)
	crawlers := uaident.Default().Crawlers()
	var text strings.Builder // with every finding that one file can have
	text.WriteString("\ufeffDisallow: /x\nUser-agent: *\nDisalow: x\nDisallow: x$y\nNonsense\nUser-agent: *\nUser-agent: a*b, c\nFoo: x\n")
	freshness := policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}
	read := policy.State{}.AfterFetch(policy.FetchResult{Status: http.StatusOK, Body: []byte(text.String())}, time.Now(), freshness, 0)
	failing := read.AfterFetch(policy.FetchResult{Status: http.StatusBadGateway}, time.Now(), freshness, 0)
	for h := range 21 {
		host := fmt.Sprintf("h%d.example", h)
		if h == 20 {
			host = judge.OtherName
		} else {
			m.SetRobotsState(host, read)
			of := m.fileCollector.getOrCreateFileState(host)
			for _, code := range policy.Codes() {
				of.findings[code] = 1
			}
			m.SetRobotsState(host, failing)
		}
		m.CountShadowVerdict(shadow.Same)
		for i, crawler := range crawlers {
			label := m.HostMetrics(host).crawlerLabels.getOrCreateLabel(crawler.Token, i%2 == 0)
			m.RecordRobotsFetch(host, label, time.Now())
			if i%20 > 0 { // enough to fill all
				continue
			}
			worstJudgements(func(class uaident.Class, who verify.State, v judge.Verdict, a judge.Action) {
				m.HostMetrics(host).CountRequest(JudgedRequest{Crawler: crawler.Token, NamedByRobots: i%2 == 0, Class: class, Identity: who, Verdict: v, Action: a})
			})
		}
	}
	for _, source := range []string{"server", "url", "file"} {
		for meaning := policy.Successful; ; meaning++ {
			m.ObserveFetch(source, meaning, time.Second)
			if meaning == policy.NotModified {
				break
			}
		}
	}
	for _, method := range []string{"none", "ranges", "rdns", "web_bot_auth"} {
		for who := verify.Claimed; who <= verify.Spoofed; who++ {
			m.verifications.WithLabelValues(method, who.String())
		}
	}
	for _, class := range uaident.Classes() {
		for _, state := range rate.AllStates() {
			m.CountRatedRequest(class, state)
		}
		m.ObserveFirstByte(class, time.Second)
	}
	for _, class := range uaident.Classes()[1:] {
		for kind := range responseaudit.NumRequestKinds {
			for status := range responseaudit.NumStatusClasses {
				m.CountResponse(class, kind, status, 1)
			}
		}
	}
	for i := range responseaudit.NumAssistants {
		m.CountAssistantVisit(i)
	}
	m.CountCacheLookup(true)
	m.CountCacheLookup(false)
	if total := gatherAll(t, m); total > seriesBudget || total < seriesBudget/2 {
		t.Errorf("%d series, want many and at most %d", total, seriesBudget)
	}
}

// TestSummedRequests fills the room of a host: totals, verdicts and actions
// stay true, and so does everything about search engines.
func TestSummedRequests(t *testing.T) {
	m := New(nothing{}, kinds, results)
	sent, search, spoofed, overflowed := 0.0, 0.0, 0.0, 0.0
	h, first := m.HostMetrics("a.example"), JudgedRequest{Crawler: "FirstBot", Class: uaident.SEO}
	h.CountRequest(first)
	for i := range 50 {
		worstJudgements(func(class uaident.Class, who verify.State, v judge.Verdict, a judge.Action) {
			h.CountRequest(JudgedRequest{Crawler: fmt.Sprintf("bot%d", i), Class: class, Identity: who, Verdict: v, Action: a})
			if who == verify.Spoofed {
				spoofed++
			}
			if v == judge.Disallowed && a == judge.Blocked {
				sent++
				if class == uaident.Search && who == verify.Claimed {
					search++
				}
			}
		})
	}
	h.CountRequest(first)
	var other, blocked, blockedSearch, underFalseNames float64
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if name := family.GetName(); name != "caddy_robots_guard_requests_total" && name != "caddy_robots_guard_label_overflow_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			value, labels := metric.GetCounter().GetValue(), make(map[string]string)
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if strings.HasSuffix(family.GetName(), "overflow_total") {
				overflowed = value
				continue
			}
			switch labels["crawler"] {
			case judge.OtherName:
				other += value
			case judge.SpoofedName:
				underFalseNames += value
			}
			if labels["verdict"] == "disallowed" && labels["action"] == "blocked" {
				blocked += value
				if labels["class"] == "search" && labels["identity"] == "claimed" {
					blockedSearch += value
				}
			}
			if labels["crawler"] == "FirstBot" && value != 2 {
				t.Errorf("who came first was counted %v times, want 2", value)
			}
		}
	}
	if blocked != sent || blockedSearch != search || underFalseNames != spoofed {
		t.Errorf("%v blocked, %v of them of search engines, %v under false names, want %v, %v and %v",
			blocked, blockedSearch, underFalseNames, sent, search, spoofed)
	}
	if overflowed != other || other == 0 {
		t.Errorf("%v requests summed up, the counter says %v", other, overflowed)
	}
}

// TestRequestsOfSeveralGoroutines loses no request, also at the moment
// when a host is full.
func TestRequestsOfSeveralGoroutines(t *testing.T) {
	m := New(nothing{}, kinds, results)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2000 {
				m.HostMetrics(fmt.Sprintf("h%d", i%3)).CountRequest(JudgedRequest{
					Crawler:  fmt.Sprintf("bot%d", i%37),
					Identity: verify.States()[i%4], Verdict: judge.Verdict(i % 6),
				})
			}
		})
	}
	wg.Wait()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry)
	families, _ := registry.Gather()
	total := 0.0
	for _, family := range families {
		if family.GetName() == "caddy_robots_guard_requests_total" {
			for _, metric := range family.GetMetric() {
				total += metric.GetCounter().GetValue()
			}
		}
	}
	if total != 8000 {
		t.Errorf("%v requests counted, want 8000", total)
	}
	for i := range 3 {
		if n := m.HostMetrics(fmt.Sprintf("h%d", i)).counters.series.Len(); n > maxRequestSeries+58 {
			t.Errorf("h%d has %d series", i, n)
		}
	}
}
