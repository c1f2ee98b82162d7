package rate

import (
	"testing"
	"time"
)

// TestLimitOfWhoReadsNoDelay holds all who claim a name together to a limit, also where each
// network asks faster than a Crawl-delay that the crawler's operator does not read.
func TestLimitOfWhoReadsNoDelay(t *testing.T) {
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		b, rules := NewBudgets(start), asking(delay)
		rules.Owner, rules.Advisory, rules.Mode = Rule{Interval: time.Second, Burst: 10}, true, Enforce
		passed, over := 0, 0
		for at := start; at.Before(start.Add(10 * time.Minute)); at = at.Add(time.Second) {
			for n := range 10 {
				p := b.Spend(at, claimed.from(n), rules)
				if !p.Slowed {
					passed++
				}
				if p.Over {
					over++
				}
			}
		}
		if passed > 600+10 {
			t.Errorf("%d requests passed in ten minutes by a limit of one a second, beside a delay of %v", passed, delay)
		}
		if over < 6000-610 {
			t.Errorf("%d were one too many, beside a delay of %v", over, delay)
		}
	}
}

// TestWhatIsSlowedSpendsNothing answers 429 to a network because of others that claim the name:
// it has spent nothing of its own, so that it gets its page when it was told to come again.
func TestWhatIsSlowedSpendsNothing(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{Owner: Rule{Interval: 10 * time.Second, Burst: 1}, Window: 5 * time.Minute, Mode: Enforce}
	b.Spend(start, claimed.from(2), rules)
	if p := b.Spend(start.Add(time.Second), claimed.from(1), rules); p.Wait != 9*time.Second {
		t.Fatalf("%+v", p)
	}
	if p := b.Spend(start.Add(10*time.Second), claimed.from(1), rules); p.Over {
		t.Errorf("it has waited for as long as it was told to: %+v", p)
	}
}
