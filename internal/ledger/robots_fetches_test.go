package ledger

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestReaders(t *testing.T) {
	r := NewRobotsFetches(3, 3)
	reader := func(crawler, network string) RobotsFetcher {
		return RobotsFetcher{Site: policy.Key{Host: "example.com"}, Crawler: crawler, Network: netip.MustParsePrefix(network)}
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.Record(reader("FooBot", "192.0.2.0/24"), RobotsFetch{At: at.UnixMilli(), Status: 200})
	r.Record(reader("FooBot", "192.0.2.0/24"), RobotsFetch{At: at.Add(time.Hour).UnixMilli(), Status: 304})
	if got, ok := r.Last(reader("FooBot", "192.0.2.0/24")); !ok || got.At != at.Add(time.Hour).UnixMilli() || got.Status != 304 {
		t.Errorf("last reading = %+v, %t", got, ok)
	}
	if _, ok := r.Last(reader("FooBot", "198.51.100.0/24")); ok {
		t.Error("a claim from another network counts as the same crawler")
	}
	if _, ok := r.Last(reader("BarBot", "192.0.2.0/24")); ok {
		t.Error("another crawler from the same network counts as the same")
	}
	for i := range 3 {
		r.Record(reader("FooBot", fmt.Sprintf("203.0.%d.0/24", i)), RobotsFetch{At: at.UnixMilli()})
	}
	if _, ok := r.Last(reader("FooBot", "192.0.2.0/24")); ok {
		t.Error("the bound is not kept")
	}
}
