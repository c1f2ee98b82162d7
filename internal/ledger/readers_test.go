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
	r.Record(reader("FooBot", "192.0.2.0/24"), RobotsFetch{At: at, Status: 200})
	r.Record(reader("FooBot", "192.0.2.0/24"), RobotsFetch{At: at.Add(time.Hour), Status: 304})
	if got, ok := r.Last(reader("FooBot", "192.0.2.0/24")); !ok || !got.At.Equal(at.Add(time.Hour)) || got.Status != 304 {
		t.Errorf("last reading = %+v, %t", got, ok)
	}
	if _, ok := r.Last(reader("FooBot", "198.51.100.0/24")); ok {
		t.Error("a claim from another network counts as the same crawler")
	}
	if _, ok := r.Last(reader("BarBot", "192.0.2.0/24")); ok {
		t.Error("another crawler from the same network counts as the same")
	}
	for i := range 3 {
		r.Record(reader("FooBot", fmt.Sprintf("203.0.%d.0/24", i)), RobotsFetch{At: at})
	}
	if _, ok := r.Last(reader("FooBot", "192.0.2.0/24")); ok {
		t.Error("the bound is not kept")
	}
}

// TestReadersInShards has one crawler read from as many networks as a part has room for, and
// then from many more: none of the former is forgotten before that, the latest is known
// afterwards, and there are never more than the room that is said.
func TestReadersInShards(t *testing.T) {
	const most = maxReaderShards * minInShard
	r := NewRobotsFetches(most, most)
	for _, invented := range []bool{false, true} {
		from := func(i int) RobotsFetcher {
			network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
			return RobotsFetcher{Site: policy.Key{Host: "a.test", Site: "a.test"}, Crawler: "bingbot", Network: network, Invented: invented}
		}
		const usual = most * 85 / 100 // so that no shard has more than its room but once in a million years
		for i := range usual {
			r.Record(from(i), RobotsFetch{Status: i})
		}
		for i := range usual {
			if last, ok := r.Last(from(i)); !ok || last.Status != i {
				t.Fatalf("invented %t: reader %d of %d is forgotten", invented, i, usual)
			}
		}
		for i := range 5 * most {
			r.Record(from(i), RobotsFetch{Status: i})
		}
		if last, ok := r.Last(from(5*most - 1)); !ok || last.Status != 5*most-1 {
			t.Errorf("invented %t: the latest is forgotten", invented)
		}
		part := &r.invented
		if !invented {
			part = &r.parts[partIndex(from(0))]
			if noted := r.PartRevision(partIndex(from(0))); noted != usual+5*most {
				t.Errorf("%d readings are noted, want %d", noted, usual+5*most)
			}
		}
		kept := 0
		for i := range part.shards {
			kept += part.shards[i].last.Len()
		}
		if len(part.shards) != maxReaderShards || kept != most*5/4 {
			t.Errorf("invented %t: %d readers in %d shards, want %d in %d", invented, kept, len(part.shards), most*5/4, maxReaderShards)
		}
	}
	if all := r.own(partIndex(RobotsFetcher{Site: policy.Key{Host: "a.test", Site: "a.test"}, Crawler: "bingbot"}), time.Time{}); len(all) != maxStoredReadings {
		t.Errorf("%d readings are stored, want %d", len(all), maxStoredReadings)
	}
}
