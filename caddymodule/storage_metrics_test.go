package caddymodule

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestStorageMetrics(t *testing.T) {
	m := newMemory()
	i := newInstance(m, "first", noon.Add(24*time.Hour)) // later than in any other test
	i.read(t.Context())
	counts := func(result string) float64 { return counted(t, sharedMetrics().writes, "policies", result) }
	good, bad := counts("success"), counts("failure")
	m.broken = errors.New("no network")
	i.learn(siteA, policy.Named, open)
	i.later(t, 0)
	m.broken = nil
	i.later(t, firstWriteRetry)
	if counts("success") != good+1 || counts("failure") != bad+1 {
		t.Errorf("%v good and %v bad writes, want one more than %v and %v", counts("success"), counts("failure"), good, bad)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(sharedMetrics().lastWrite)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatal(families, err)
	}
	if got := families[0].GetMetric()[0].GetGauge().GetValue(); got != timestamp(i.time) {
		t.Errorf("last written at %v, want %v", got, timestamp(i.time))
	}
}

// counted returns the value of a counter of the storage.
func counted(t *testing.T, c prometheus.Collector, kind, result string) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if pairs := metric.GetLabel(); pairs[0].GetValue() == kind && pairs[1].GetValue() == result {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}
