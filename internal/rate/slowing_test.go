package rate

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// withMode sets the mode of rules.
func withMode(r *Rules, mode Mode) *Rules { r.Mode = mode; return r }

// TestSlowed checks that requests over the rate are slowed, but not for a Crawl-delay that the
// operator ignores.
func TestSlowed(t *testing.T) {
	limit := Rule{Interval: time.Minute, Burst: 2}
	for _, tc := range []struct {
		name       string
		rules      Rules
		who        Client
		over, slow int // of 100 requests at once
	}{
		{"observe", *delayRules(10 * time.Second), verified, 55, 0},
		{"a delay", *withMode(delayRules(10*time.Second), Enforce), verified, 55, 55},
		{"a delay for a claimed crawler", *withMode(delayRules(10*time.Second), Enforce), claimed, 55, 55},
		{"a delay for a spoofed client", *withMode(delayRules(10*time.Second), Enforce), Client{Site: shop, Token: "bingbot", Identity: verify.Spoofed}, 55, 55},
		{"an ignored delay", Rules{CrawlDelay: Rule{10 * time.Second, 10}, Tolerance: 1.5, Window: 5 * time.Minute, IgnoresCrawlDelay: true, Mode: Enforce}, verified, 55, 0},
		{"a limit", Rules{ConfiguredLimit: limit, Mode: Enforce}, verified, 98, 98},
		{"a delay and a limit", Rules{CrawlDelay: Rule{10 * time.Second, 10}, Tolerance: 1.5, Window: 5 * time.Minute, ConfiguredLimit: limit, Mode: Enforce}, verified, 98, 98},
		{"a limit and an ignored delay", Rules{CrawlDelay: Rule{10 * time.Second, 10}, Tolerance: 1.5, Window: 5 * time.Minute, ConfiguredLimit: limit, IgnoresCrawlDelay: true, Mode: Enforce}, verified, 98, 98},
		{"a search engine", Rules{ConfiguredLimit: limit, Mode: SlowSearch}, verified, 98, 5},
		{"a claimed search engine", Rules{ConfiguredLimit: limit, Mode: SlowSearch}, claimed, 98, 5},
	} {
		b, over, slow := NewBudgets(start), 0, 0
		for range 100 {
			p := b.ChargeRequest(start, &tc.who, &tc.rules)
			if p.IsOverRate {
				over++
			}
			if p.MustSlow {
				slow++
			}
			if p.MustSlow && p.Wait <= 0 {
				t.Errorf("%s: slowed without a wait: %+v", tc.name, p)
			}
		}
		if over != tc.over || slow != tc.slow {
			t.Errorf("%s: %d over and %d slowed, want %d and %d", tc.name, over, slow, tc.over, tc.slow)
		}
	}
}

// TestSlowingOfSearchEngines sends requests of a search engine at five times the rate for days,
// with and without a daily pause. At most one in twenty requests in any 24 hours is slowed. After a
// day without a pause no request is slowed.
func TestSlowingOfSearchEngines(t *testing.T) {
	rules := withMode(delayRules(10*time.Second), SlowSearch)
	for _, tc := range []struct {
		name  string
		pause time.Duration // before midnight of each day
		ends  time.Duration // 0 for never
	}{
		{"without a pause", 0, 24 * time.Hour},
		{"with a short pause", 30 * time.Minute, 24 * time.Hour},
		{"with a long pause", 90 * time.Minute, 0},
	} {
		b, ends := NewBudgets(start), time.Duration(0)
		hours := make([][2]int, 72)
		for at := time.Duration(0); at < 72*time.Hour; at += 2 * time.Second {
			if at%(24*time.Hour) >= 24*time.Hour-tc.pause {
				continue
			}
			p := b.ChargeRequest(start.Add(at), verified.from(int(at)%1000), rules)
			hour := &hours[at/time.Hour]
			hour[0]++
			if p.MustSlow {
				hour[1]++
				if ends > 0 {
					t.Fatalf("%s: slowed after %v, although slowing ended after %v", tc.name, at, ends)
				}
			}
			if p.SlowingEnded {
				if ends > 0 {
					t.Fatalf("%s: slowing ended twice", tc.name)
				}
				ends = at
			}
		}
		if ended := ends > 0; ended != (tc.ends > 0) || ended && (ends < tc.ends || ends > tc.ends+time.Hour) {
			t.Errorf("%s: ended after %v, want %v", tc.name, ends, tc.ends)
		}
		total := 0
		for from := range len(hours) - 24 {
			asked, slowed := 0, 0
			for _, h := range hours[from : from+24] {
				asked += h[0]
				slowed += h[1]
			}
			total += slowed
			if slowed*20 > asked {
				t.Errorf("%s: in the day from hour %d, %d of %d requests were slowed", tc.name, from, slowed, asked)
			}
		}
		if total == 0 {
			t.Errorf("%s: no request was slowed", tc.name)
		}
	}
}

// TestSlowingBeginsAgain ends the slowing of a search engine. After a day within the rate, a new
// slowing begins.
func TestSlowingBeginsAgain(t *testing.T) {
	var s searchSlowing
	now := time.Hour
	slowed := func(long time.Duration, over bool) (n int) {
		for until := now + long; now < until; now += time.Second {
			if slow, _ := s.shouldSlow(now, over); slow {
				n++
			}
		}
		return n
	}
	for _, tc := range []struct {
		name  string
		long  time.Duration
		over  bool
		slows bool
	}{
		{"a day over the rate", 25 * time.Hour, true, true},
		{"two more days", 48 * time.Hour, true, false},
		{"half a day within the rate", 12 * time.Hour, false, false},
		{"over the rate again", time.Hour, true, false},
		{"a day within the rate", 25 * time.Hour, false, false},
		{"over the rate again", 2 * time.Hour, true, true},
	} {
		if n := slowed(tc.long, tc.over); n > 0 != tc.slows {
			t.Errorf("%s: %d slowed", tc.name, n)
		}
	}
}

// TestSlowingOfSlowEngineEnds sends few requests of a search engine, all over the rate. Hours pass
// between two slowed requests.
func TestSlowingOfSlowEngineEnds(t *testing.T) {
	var s searchSlowing
	slowed, ends := 0, time.Duration(0)
	for now := time.Hour; now < 100*time.Hour; now += 10 * time.Minute {
		slow, ended := s.shouldSlow(now, true)
		if slow {
			slowed++
		}
		if slow && ends > 0 {
			t.Fatalf("slowed after %v, although slowing ended after %v", now, ends)
		}
		if ended {
			ends = now
		}
	}
	if slowed == 0 || ends == 0 {
		t.Errorf("%d slowed, ended after %v", slowed, ends)
	}
}

// TestImpostorsDoNotSlowSearchEngine sends requests over the rate under the name of a search engine
// from other networks. No client is verified. At most one in twenty requests of the search engine
// is slowed.
func TestImpostorsDoNotSlowSearchEngine(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{ConfiguredLimit: Rule{Interval: 2 * time.Second, Burst: 10}, Window: 5 * time.Minute, Mode: SlowSearch}
	asked, slowed := 0, 0
	for at := time.Duration(0); at < 12*time.Hour; at += time.Second {
		flood := 1 // within the rate, so that the share of slowed requests stays low
		if at%time.Minute == 0 && at > 11*time.Hour {
			flood = 60
		}
		for i := range flood {
			if at%(2*time.Second) == 0 {
				b.ChargeRequest(start.Add(at), claimed.from(100+i), rules)
			}
		}
		if at%time.Minute == 0 && at > 11*time.Hour {
			asked++
			if b.ChargeRequest(start.Add(at), claimed.from(1), rules).MustSlow {
				slowed++
			}
		}
	}
	if asked == 0 || slowed*20 > asked {
		t.Errorf("%d of %d requests were slowed", slowed, asked)
	}
}
