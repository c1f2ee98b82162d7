package rate

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// enforced returns the rules with which that is done about requests that are one too
// many.
func enforced(r *Rules, mode Mode) *Rules { r.Mode = mode; return r }

// TestSlowed slows what is one too many, but for what its operator does not read.
func TestSlowed(t *testing.T) {
	limit := Rule{Interval: time.Minute, Burst: 2}
	for _, tc := range []struct {
		name       string
		rules      Rules
		who        Client
		over, slow int // of 100 requests at once
	}{
		{"observed", *asking(10 * time.Second), verified, 55, 0},
		{"a delay", *enforced(asking(10*time.Second), Enforce), verified, 55, 55},
		{"a delay, by claim", *enforced(asking(10*time.Second), Enforce), claimed, 55, 55},
		{"a delay, under a false name", *enforced(asking(10*time.Second), Enforce), Client{Site: shop, Token: "bingbot", Identity: verify.Spoofed}, 55, 55},
		{"a delay that is not read", Rules{CrawlDelay: Rule{10 * time.Second, 10}, Tolerance: 1.5, Window: 5 * time.Minute, Advisory: true, Mode: Enforce}, verified, 55, 0},
		{"a limit", Rules{Configured: limit, Mode: Enforce}, verified, 98, 98},
		{"both", Rules{CrawlDelay: Rule{10 * time.Second, 10}, Tolerance: 1.5, Window: 5 * time.Minute, Configured: limit, Mode: Enforce}, verified, 98, 98},
		{"a limit, and a delay that is not read", Rules{CrawlDelay: Rule{10 * time.Second, 10}, Tolerance: 1.5, Window: 5 * time.Minute, Configured: limit, Advisory: true, Mode: Enforce}, verified, 98, 98},
		{"a search engine", Rules{Configured: limit, Mode: SlowSearch}, verified, 98, 5},
		{"a search engine, by claim", Rules{Configured: limit, Mode: SlowSearch}, claimed, 98, 5},
	} {
		b, over, slow := NewBudgets(start), 0, 0
		for range 100 {
			p := b.Spend(start, &tc.who, &tc.rules)
			if p.Over {
				over++
			}
			if p.Slowed {
				slow++
			}
			if p.Slowed && p.Wait <= 0 {
				t.Errorf("%s: slowed without a wait: %+v", tc.name, p)
			}
		}
		if over != tc.over || slow != tc.slow {
			t.Errorf("%s: %d over and %d slowed, want %d and %d", tc.name, over, slow, tc.over, tc.slow)
		}
	}
}

// TestSearchIsSpared has a search engine ask five times as fast as it is asked to for
// days, with a pause and without: no more than one in twenty is slowed in any 24 hours,
// and nothing any more after a day without a pause.
func TestSearchIsSpared(t *testing.T) {
	rules := enforced(asking(10*time.Second), SlowSearch)
	for _, tc := range []struct {
		name  string
		pause time.Duration // each day at noon
		ends  time.Duration // 0 for never
	}{
		{"without a pause", 0, 24 * time.Hour},
		{"with a short one", 30 * time.Minute, 24 * time.Hour},
		{"with a long one", 90 * time.Minute, 0},
	} {
		b, ends := NewBudgets(start), time.Duration(0)
		hours := make([][2]int, 72)
		for at := time.Duration(0); at < 72*time.Hour; at += 2 * time.Second {
			if at%(24*time.Hour) >= 24*time.Hour-tc.pause {
				continue
			}
			p := b.Spend(start.Add(at), verified.from(int(at)%1000), rules)
			hour := &hours[at/time.Hour]
			hour[0]++
			if p.Slowed {
				hour[1]++
				if ends > 0 {
					t.Fatalf("%s: slowed after %v, and it had ended after %v", tc.name, at, ends)
				}
			}
			if p.SlowingEnded {
				if ends > 0 {
					t.Fatalf("%s: it ended twice", tc.name)
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
				t.Errorf("%s: from hour %d %d of %d were slowed", tc.name, from, slowed, asked)
			}
		}
		if total == 0 {
			t.Errorf("%s: nothing was slowed", tc.name)
		}
	}
}

// TestSlowingBeginsAgain ends the slowing of a search engine, and has it be too fast
// again after a day in which it was not.
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
		{"a day", 25 * time.Hour, true, true},
		{"two more", 48 * time.Hour, true, false},
		{"half a day in which it is not", 12 * time.Hour, false, false},
		{"too fast again", time.Hour, true, false},
		{"a day in which it is not", 25 * time.Hour, false, false},
		{"too fast again", 2 * time.Hour, true, true},
	} {
		if n := slowed(tc.long, tc.over); n > 0 != tc.slows {
			t.Errorf("%s: %d slowed", tc.name, n)
		}
	}
}

// TestSlowingOfASlowEngineEnds has an engine be too fast all the time with so few
// requests that hours lie between those of them that may be slowed.
func TestSlowingOfASlowEngineEnds(t *testing.T) {
	var s searchSlowing
	slowed, ends := 0, time.Duration(0)
	for now := time.Hour; now < 100*time.Hour; now += 10 * time.Minute {
		slow, ended := s.shouldSlow(now, true)
		if slow {
			slowed++
		}
		if slow && ends > 0 {
			t.Fatalf("slowed after %v, and it had ended after %v", now, ends)
		}
		if ended {
			ends = now
		}
	}
	if slowed == 0 || ends == 0 {
		t.Errorf("%d slowed, ended after %v", slowed, ends)
	}
}

// TestImpostorsMoveNoShare has impostors in other networks use a search engine's name all
// the time, and be too fast, while nobody can verify who has it: the engine gets no more
// than one in twenty of its own requests answered 429.
func TestImpostorsMoveNoShare(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{Configured: Rule{Interval: 2 * time.Second, Burst: 10}, Window: 5 * time.Minute, Mode: SlowSearch}
	asked, slowed := 0, 0
	for at := time.Duration(0); at < 12*time.Hour; at += time.Second {
		flood := 1 // within what is asked, which leaves room for requests that are slowed
		if at%time.Minute == 0 && at > 11*time.Hour {
			flood = 60
		}
		for i := range flood {
			if at%(2*time.Second) == 0 {
				b.Spend(start.Add(at), claimed.from(100+i), rules)
			}
		}
		if at%time.Minute == 0 && at > 11*time.Hour {
			asked++
			if b.Spend(start.Add(at), claimed.from(1), rules).Slowed {
				slowed++
			}
		}
	}
	if asked == 0 || slowed*20 > asked {
		t.Errorf("%d of %d were slowed", slowed, asked)
	}
}
