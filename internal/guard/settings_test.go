package guard

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestPoliciesFor checks that the cache holds a robots.txt for each configured host,
// and that a smaller setting causes a warning.
func TestPoliciesFor(t *testing.T) {
	for _, tc := range []struct {
		configured, hosts, want int
		warns                   bool
	}{
		{0, 0, 10_000, false},
		{0, 5_000, 10_000, false},
		{0, 100_000, 200_000, false},
		{20, 20, 20, false},
		{20, 21, 20, true},
		{150_000, 100_000, 150_000, false},
	} {
		core, logs := observer.New(zapcore.WarnLevel)
		got := MaxPoliciesFor(tc.configured, tc.hosts, zap.New(core))
		if got != tc.want || (logs.Len() > 0) != tc.warns {
			t.Errorf("%d for %d hosts: %d, %d warnings; want %d, warned %t", tc.configured, tc.hosts, got, logs.Len(), tc.want, tc.warns)
		}
	}
}

// TestSizeOfBases checks that the bases of robots_txt have the same limits as the
// cached copies.
func TestSizeOfBases(t *testing.T) {
	s := NewState()
	defer func() { _ = s.Destruct() }()
	release := s.UseSettings(Settings{Sizes: CacheSizes{MaxPolicies: 2}})
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		for _, cache := range []*policy.Cache{s.Cache, s.Bases} {
			cache.GetOrCreate(policy.Key{Site: host, Host: host}, policy.ConfiguredHosts)
		}
	}
	if copies, bases := s.Cache.Stats(policy.ConfiguredHosts).Entries, s.Bases.Stats(policy.ConfiguredHosts).Entries; copies != 2 || bases != 2 {
		t.Errorf("%d copies and %d bases, want 2 of each", copies, bases)
	}
	release()
}
