package metrics

import (
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// gathered returns the values of a metric by the value of one label.
func gathered(t *testing.T, m *Metrics, name, label string) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, family := range families {
		if family.GetName() != "caddy_robots_guard_"+name {
			continue
		}
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
	m := New(nothing{}, kinds, results)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	freshness := policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}
	var s policy.State
	after := func(d time.Duration, a policy.FetchResult) {
		s = s.AfterFetch(a, at.Add(d), freshness, 0)
		m.SetRobotsState(host, s)
	}
	check := func(what string, read, changed, failing time.Duration) {
		t.Helper()
		for _, g := range []struct {
			name string
			want time.Duration // -1 if absent
		}{{"read_timestamp_seconds", read}, {"changed_timestamp_seconds", changed}, {"unreachable_since_timestamp_seconds", failing}} {
			got, ok := gathered(t, m, g.name, "host")[host]
			if ok != (g.want >= 0) || ok && got != unixSeconds(at.Add(g.want)) {
				t.Errorf("%s: %s is %v (%t), want %v", what, g.name, got, ok, g.want)
			}
		}
	}
	text := policy.FetchResult{Status: http.StatusOK, Body: []byte("User-agent: *\nNonsense: x\n")}
	after(0, text)
	check("first read", 0, 0, -1)
	after(time.Hour, text)
	check("read again", time.Hour, 0, -1)
	after(2*time.Hour, policy.FetchResult{Status: http.StatusBadGateway})
	after(3*time.Hour, policy.FetchResult{Status: http.StatusBadGateway})
	check("unreachable", time.Hour, 0, 2*time.Hour)
	if codes := gathered(t, m, "findings", "finding"); codes[string(policy.UnknownKey)] != 1 {
		t.Errorf("findings: %v", codes)
	}
	after(4*time.Hour, policy.FetchResult{Status: http.StatusNotFound})
	check("gone", 4*time.Hour, 4*time.Hour, -1)
	if codes := gathered(t, m, "findings", "finding"); codes[string(policy.UnknownKey)] != 0 {
		t.Errorf("findings of a file that is gone: %v", codes)
	}
}

// kinds and results are labels of stored values.
var kinds, results = []string{"policies", "copies", "changes", "notes", "ledger"}, []string{"good", "set_aside", "expired", "failed"}

// nothing is observed.
type nothing struct{}

func (nothing) CacheStats(policy.Segment) policy.CacheStats                   { return policy.CacheStats{} }
func (nothing) HostsWithHold() map[string]bool                                { return nil }
func (nothing) NotProtecting() map[string]string                              { return nil }
func (nothing) VerifierStats() verify.Stats                                   { return verify.Stats{} }
func (nothing) AddressLists() []verify.ListStatus                             { return nil }
func (nothing) WaitingChanges() int                                           { return 0 }
func (nothing) NextManagedChange() time.Time                                  { return time.Time{} }
func (nothing) AuditFindings() map[AuditFinding]int                           { return nil }
func (nothing) BlockedSearchEngines() map[alert.BlockedSearchEngine]time.Time { return nil }
func (nothing) Registry() *report.RegistryStatus                              { return nil }
func (nothing) SigningKeys() map[string]int                                   { return nil }
