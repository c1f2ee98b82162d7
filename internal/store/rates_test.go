package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestRatesAmongInstances applies a rate limit to the sum of two instances. A single instance stores
// no rates, and old rates are removed.
func TestRatesAmongInstances(t *testing.T) {
	if syncInterval != rate.ShareInterval {
		t.Errorf("the store looks every %v, and counts are taken to be of every %v", syncInterval, rate.ShareInterval)
	}
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	rules := &rate.Rules{CrawlDelay: rate.Rule{Interval: time.Millisecond, Burst: 100}, Tolerance: 1000, ConfiguredLimit: rate.Rule{Interval: time.Second, Burst: 5}, Window: 5 * time.Minute}
	who := &rate.Client{Site: &siteA, Token: "bingbot", Identity: verify.Verified}
	first, second := newInstance(m, "first", noon), newInstance(m, "second", noon)
	step := func(of ...*instance) (passed int) {
		for _, i := range of {
			i.time = m.Now
			for n := range 40 { // ten a second at each instance, for four seconds
				if !i.rate.ChargeRequest(m.Now.Add(time.Duration(n)*100*time.Millisecond), who, rules).IsOverRate {
					passed++
				}
			}
		}
		m.Now = m.Now.Add(4 * time.Second)
		for _, i := range of {
			i.time = m.Now
			i.Write(ctx)
			i.Sync(ctx)
		}
		return passed
	}
	first.Read(ctx)
	first.learn(siteA, policy.ConfiguredHosts, open)
	for range 20 {
		step(first)
	}
	if n := first.observed.writes(kindNotes, "success"); n != 0 {
		t.Errorf("alone it is written %v times", n)
	}
	second.Read(ctx)
	second.learn(siteA, policy.ConfiguredHosts, open)
	passed := 0
	for i := range 225 { // fifteen minutes
		if n := step(first, second); i >= 75 {
			passed += n
		}
	}
	if passed < 480 || passed > 720 {
		t.Errorf("%d passed in the last ten minutes, of which 600 may", passed)
	}
	if n := first.observed.writes(kindNotes, "success"); n < 40 || n > 61 {
		t.Errorf("written %v times in fifteen minutes, want one each 15 seconds", n)
	}

	dead := key{"second", kindNotes, ratesName}.String()
	if _, ok := m.Values[dead]; !ok {
		t.Fatal("nothing is stored")
	}
	m.Now = m.Now.Add(maxRatesAge + time.Hour)
	first.time = m.Now
	first.Read(ctx)
	if _, ok := m.Values[dead]; ok {
		t.Error("what a dead instance has left is still there")
	}
	first.Write(ctx)
	writes := first.observed.writes(kindNotes, "success")
	if n := step(first); n < 8 || n > 9 {
		t.Errorf("%d passed in four seconds, want 9: a dead instance counts", n)
	}
	for range 8 {
		step(first)
	}
	if n := first.observed.writes(kindNotes, "success"); n != writes {
		t.Errorf("alone again it is written %v times", n-writes)
	}
	m.Values[key{"third", kindNotes, ratesName}.String()] = []byte(fmt.Sprintf(`{"requests":{"%d":-5}}`, 1))
	first.Read(ctx)
	first.logged(t, "stored values cannot be used and are set aside")
}
