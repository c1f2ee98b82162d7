package caddymodule

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// gathered returns the values of a metric by the value of one label.
func gathered(t *testing.T, c prometheus.Collector, label string) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				if pair.GetName() == label {
					values[pair.GetValue()] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
				}
			}
		}
	}
	return values
}

func TestMetricsOfAHost(t *testing.T) {
	const host = "metrics.example"
	m := sharedMetrics()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	freshness := policy.Freshness{Default: time.Hour, Max: time.Hour}
	var s policy.Standing
	after := func(d time.Duration, a policy.Answer) {
		s = s.After(a, at.Add(d), freshness, 0)
		m.settled(host, s)
	}
	check := func(what string, read, changed, failing time.Duration) {
		t.Helper()
		for _, g := range []struct {
			name string
			vec  *prometheus.GaugeVec
			want time.Duration // -1 if absent
		}{{"read", m.read, read}, {"changed", m.changed, changed}, {"unreachable since", m.failing, failing}} {
			got, ok := gathered(t, g.vec, "host")[host]
			if ok != (g.want >= 0) || ok && got != timestamp(at.Add(g.want)) {
				t.Errorf("%s: %s is %v (%t), want %v", what, g.name, got, ok, g.want)
			}
		}
	}
	text := policy.Answer{Status: http.StatusOK, Body: []byte("User-agent: *\nNonsense: x\n")}
	after(0, text)
	check("first read", 0, 0, -1)
	after(time.Hour, text)
	check("read again", time.Hour, 0, -1)
	after(2*time.Hour, policy.Answer{Status: http.StatusBadGateway})
	after(3*time.Hour, policy.Answer{Status: http.StatusBadGateway})
	check("unreachable", time.Hour, 0, 2*time.Hour)
	if codes := gathered(t, m.findings, "code"); codes[string(policy.UnknownKey)] != 1 {
		t.Errorf("findings: %v", codes)
	}
	after(4*time.Hour, policy.Answer{Status: http.StatusNotFound})
	check("gone", 4*time.Hour, 4*time.Hour, -1)
	if codes := gathered(t, m.findings, "code"); codes[string(policy.UnknownKey)] != 0 {
		t.Errorf("findings of a file that is gone: %v", codes)
	}
}

func TestLookupsAreCounted(t *testing.T) {
	release := make(chan struct{})
	g := testGuard(t, Handler{}, &scriptedSource{answer: func(context.Context) policy.Answer {
		<-release
		return policy.Answer{Status: http.StatusOK}
	}})
	before := gathered(t, g.metrics.lookups, "result")
	g.judge(request("curl/8.7.1", "/")) // does not wait
	close(release)
	<-readDone(g, request("curl/8.7.1", "/"))
	g.judge(request("curl/8.7.1", "/"))
	after := gathered(t, g.metrics.lookups, "result")
	if hits, misses := after["hit"]-before["hit"], after["miss"]-before["miss"]; hits != 1 || misses != 1 {
		t.Errorf("%v hits and %v misses, want one each", hits, misses)
	}
}
