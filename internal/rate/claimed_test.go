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
