package managed

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestKeeperIsAskedLate has a request that is under way ask for what is under the rules
// once the base has changed and the new one has come there: that stays there.
func TestKeeperIsAskedLate(t *testing.T) {
	bounds := policy.Bounds{Entries: 10, Bytes: 1 << 20, Reads: 1}
	bases := policy.NewCache(bounds, bounds, time.Now, nil)
	key := policy.Key{Site: "a.test", Host: "a.test"}
	entry := bases.Add(key, policy.Named)
	read := func(text string) *policy.State {
		entry.MakeDue()
		<-entry.Refresh(policy.Freshness{Default: time.Hour, Max: time.Hour}, func() policy.Answer {
			return policy.Answer{Status: 200, Body: []byte(text)}
		}, nil)
		return entry.State()
	}
	k := new(Keeper)
	underWay := read("User-agent: *\nDisallow: /a\n")
	k.under(bases, key, underWay)
	latest := read("User-agent: *\nDisallow: /b\n")
	k.under(bases, key, latest)
	for _, o := range k.Due(bases) {
		k.Judge(o, nil)
	}
	if v := k.under(bases, key, latest); v != latest.Good {
		t.Fatalf("under the rules is %q", v.Robots.Text())
	}
	if v := k.under(bases, key, underWay); v.Hash != latest.Good.Hash {
		t.Errorf("who asks late gets %q", v.Robots.Text())
	}
	if v := k.under(bases, key, latest); v.Hash != latest.Good.Hash || len(k.Due(bases)) != 0 {
		t.Errorf("then %q is under the rules", v.Robots.Text())
	}
}
