package caddymodule

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// gatherAll gathers all metrics of the module.
func gatherAll(t *testing.T, m *metrics) (total int) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	for _, c := range m.all() {
		registry.MustRegister(c)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return checkFamilies(t, families)
}

// worstJudgements calls f with every combination that a judgement can have.
func worstJudgements(f func(class uaident.Class, who identity, v verdict, a action)) {
	for _, class := range uaident.Classes() {
		for who := identityClaimed; who <= identitySpoofed; who++ {
			for v := verdictAllowed; v <= verdictUnknown; v++ {
				for a := actionNone; a <= actionBlocked; a++ {
					none, refused := a == actionNone, v == verdictDisallowed
					switch {
					case none && refused, !none && !refused && v != verdictUnknown && who != identitySpoofed:
						continue // what is allowed is stopped for liars only
					}
					f(class, who, v, a)
				}
			}
		}
	}
}

// TestSeriesBudget has every label value that there is, on 20 hosts.
func TestSeriesBudget(t *testing.T) {
	m := newMetrics()
	crawlers := uaident.Default().Crawlers()
	var text strings.Builder // with every finding that one file can have
	text.WriteString("\ufeffDisallow: /x\nUser-agent: *\nDisalow: x\nDisallow: x$y\nNonsense\nUser-agent: *\nUser-agent: a*b, c\nFoo: x\n")
	freshness := policy.Freshness{Default: time.Hour, Max: time.Hour}
	read := policy.Standing{}.After(policy.Answer{Status: http.StatusOK, Body: []byte(text.String())}, time.Now(), freshness, 0)
	failing := read.After(policy.Answer{Status: http.StatusBadGateway}, time.Now(), freshness, 0)
	for h := range 21 {
		host := fmt.Sprintf("h%d.example", h)
		if h == 20 {
			host = otherLabel
		} else {
			m.settled(host, read)
			for _, code := range policy.Codes() {
				m.findings.WithLabelValues(host, string(code)).Set(1)
			}
			m.settled(host, failing)
		}
		for i, crawler := range crawlers {
			label := m.labels.crawler(host, crawler.Token, i%2 == 0)
			m.readBy(host, label, time.Now())
			if i%20 > 0 { // enough to fill all
				continue
			}
			worstJudgements(func(class uaident.Class, who identity, v verdict, a action) {
				j := &judgement{identity: who, verdict: v, action: a, site: site{label: host}}
				j.client.Class = class
				if who == identitySpoofed {
					m.requests.count(j, spoofedLabel)
				} else {
					m.requests.count(j, label)
				}
			})
		}
	}
	for _, key := range []policy.Key{{Host: "a.example"}, {Source: "https://a.example/robots.txt"}, {Source: "/robots.txt"}} {
		for meaning := policy.Rules; ; meaning++ {
			m.fetched(key, meaning, time.Second)
			if meaning == policy.Unchanged {
				break
			}
		}
	}
	for _, method := range []string{"none", "ranges", "rdns", "web_bot_auth"} {
		for who := identityClaimed; who <= identitySpoofed; who++ {
			m.checks.WithLabelValues(method, who.String())
		}
	}
	m.lookedUp(true)
	m.lookedUp(false)
	if total := gatherAll(t, m); total > seriesBudget || total < seriesBudget/2 {
		t.Errorf("%d series, want many and at most %d", total, seriesBudget)
	}
}

// TestSummedRequests fills the room of a host: totals, verdicts and actions
// stay true, and so does everything about search engines.
func TestSummedRequests(t *testing.T) {
	m := newMetrics()
	sent, search, spoofed, overflowed := 0.0, 0.0, 0.0, 0.0
	first := &judgement{site: site{label: "a.example"}}
	first.client.Class = uaident.SEO
	m.requests.count(first, "FirstBot")
	for i := range 50 {
		worstJudgements(func(class uaident.Class, who identity, v verdict, a action) {
			j := &judgement{identity: who, verdict: v, action: a, site: site{label: "a.example"}}
			j.client.Class = class
			if who == identitySpoofed {
				m.requests.count(j, spoofedLabel)
				spoofed++
			} else {
				m.requests.count(j, fmt.Sprintf("bot%d", i))
			}
			if v == verdictDisallowed && a == actionBlocked {
				sent++
				if class == uaident.Search && who == identityClaimed {
					search++
				}
			}
		})
	}
	m.requests.count(first, "FirstBot")
	var other, blocked, blockedSearch, underFalseNames float64
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.requests, m.overflow)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
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
			case otherLabel:
				other += value
			case spoofedLabel:
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

// TestRequestCountersForSeveralGoroutines loses no request, also at the moment
// when a host is full.
func TestRequestCountersForSeveralGoroutines(t *testing.T) {
	m := newMetrics()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2000 {
				j := &judgement{site: site{label: fmt.Sprintf("h%d", i%3)}, identity: identity(i % 4), verdict: verdict(i % 5)}
				m.requests.count(j, fmt.Sprintf("bot%d", i%37))
			}
		})
	}
	wg.Wait()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.requests)
	families, _ := registry.Gather()
	total := 0.0
	for _, metric := range families[0].GetMetric() {
		total += metric.GetCounter().GetValue()
	}
	if total != 8000 {
		t.Errorf("%v requests counted, want 8000", total)
	}
	for i := range 3 {
		if n := len(*m.requests.host(fmt.Sprintf("h%d", i)).series.Load()); n > maxRequestSeries+46 {
			t.Errorf("h%d has %d series", i, n)
		}
	}
}

// TestSeriesUnderAttack lets clients send every name that the registry knows,
// and invented hosts, names and paths, to 20 sites.
func TestSeriesUnderAttack(t *testing.T) {
	g := testGuard(t, Handler{Mode: modeEnforce, Grace: caddy.Duration(-1)}, serving("User-agent: *\nDisallow: /private/\n\nUser-agent: OwnBot\nDisallow: /\n"))
	g.metrics = newMetrics()
	g.state.labels = g.metrics.labels
	h := &Handler{guard: g, Status: http.StatusForbidden}
	names := make(caddyhttp.MatchHost, 20)
	for i := range names {
		names[i] = fmt.Sprintf("h%d.example", i)
	}
	server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&names}}}}}
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		return nil
	})
	send := func(host, userAgent, path string) {
		w := httptest.NewRecorder()
		r := caddyhttp.PrepareRequest(request(userAgent, "http://"+host+path), caddy.NewReplacer(), w, server)
		_ = h.ServeHTTP(w, r, next) // an error is a block
	}
	for i, host := range names {
		for n, crawler := range uaident.Default().Crawlers() {
			if testing.Short() && n%10 != i%10 {
				continue
			}
			send(host, crawler.Token+"/1.0", "/robots.txt")
			send(host, crawler.Token+"/1.0", fmt.Sprintf("/page%d", n))
			send(host, crawler.Token+"/1.0", fmt.Sprintf("/private/%d?x=%d", n, i))
		}
	}
	for i := range 5000 {
		send(fmt.Sprintf("invented%d.example", i), "bingbot/2.0", "/private/")
		send(names[i%20], fmt.Sprintf("Invented%dBot/%d.0 (+http://invented.example/)", i, i), fmt.Sprintf("/private/%d", i))
	}
	total := gatherAll(t, g.metrics)
	if total > seriesBudget || total < 1000 {
		t.Errorf("%d series, want many and at most %d", total, seriesBudget)
	}
	t.Logf("%d series", total)
	for label, values := range map[string]map[string]float64{
		"host": gathered(t, g.metrics.requests, "host"), "crawler": gathered(t, g.metrics.crawlers, "crawler"),
	} {
		for value := range values {
			if strings.Contains(strings.ToLower(value), "invented") {
				t.Errorf("%s is a value of %s", value, label)
			}
		}
	}
	if overflow := gathered(t, g.metrics.overflow, "host")[names[0]]; overflow < 100 {
		t.Errorf("%v requests summed up, want hundreds", overflow)
	}
}
