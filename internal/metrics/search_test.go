package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestSearchBlocked keeps the last time of each, and of those beyond the bound
// what matters: that it was a search engine, and how sure that is.
func TestSearchBlocked(t *testing.T) {
	m := New(nothing{}, kinds, results)
	begin := time.Unix(1000, 0)
	for i := range maxSearchSeries - 1 {
		m.RecordSearchBlock("a.example", fmt.Sprintf("engine%d", i), verify.Claimed, begin)
	}
	m.RecordSearchBlock("a.example", "Googlebot", verify.Verified, begin.Add(time.Minute))
	m.RecordSearchBlock("a.example", "Googlebot", verify.Verified, begin.Add(time.Hour))
	m.RecordSearchBlock("a.example", "Applebot", verify.Claimed, begin.Add(2*time.Hour))
	m.RecordSearchBlock("a.example", "Slurp", verify.Verified, begin.Add(3*time.Hour))
	m.RecordSearchBlock("b.example", "Applebot", verify.Unknown, begin)

	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.searchBlocks)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, series := range families[0].GetMetric() {
		labels := ""
		for _, pair := range series.GetLabel() {
			labels += pair.GetValue() + " "
		}
		got[labels] = series.GetGauge().GetValue() - 1000
	}
	for labels, want := range map[string]float64{
		"engine0 a.example claimed ":             0,
		"Googlebot a.example verified ":          3600,
		judge.OtherName + " a.example claimed ":  2 * 3600,
		judge.OtherName + " a.example verified ": 3 * 3600,
		"Applebot b.example unknown ":            0,
	} {
		if at, ok := got[labels]; !ok || at != want {
			t.Errorf("%s: %v %v, want %v", labels, at, ok, want)
		}
	}
	if want := maxSearchSeries + 2 + 1; len(got) != want {
		t.Errorf("%d series, want %d: %v", len(got), want, got)
	}
}
