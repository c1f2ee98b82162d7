package guard

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestStorageMetrics(t *testing.T) {
	m := storetest.New()
	i := newInstance(m, "first", noon.Add(24*time.Hour)) // later than in any other test
	i.Read(t.Context())
	counts := func(result string) (n float64) {
		registry := prometheus.NewPedanticRegistry()
		if err := i.shared.Metrics.Register(registry); err != nil {
			t.Fatal(err)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if labels := metric.GetLabel(); family.GetName() == "caddy_robots_guard_storage_writes_total" && labels[0].GetValue() == "policies" && labels[1].GetValue() == result {
					n = metric.GetCounter().GetValue()
				}
			}
		}
		return n
	}
	good, bad := counts("success"), counts("failure")
	m.Err = errors.New("no network")
	i.learn(siteA, policy.ConfiguredHosts, open)
	i.later(t, 0)
	m.Err = nil
	i.later(t, 4*time.Second)
	if counts("success") != good+1 || counts("failure") != bad+1 {
		t.Errorf("%v good and %v bad writes, want one more than %v and %v", counts("success"), counts("failure"), good, bad)
	}
	if got, want := shown(t, i.shared.Metrics, "storage_write_timestamp_seconds", "")[""], float64(i.time.UnixMilli())/1000; got != want {
		t.Errorf("last written at %v, want %v", got, want)
	}
}
