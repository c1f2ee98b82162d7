package rate

import (
	"fmt"
	"testing"
	"time"
)

// TestWaitIsBoundedWithOtherInstances imports an implausible number of requests from another
// instance, caused by impostors or a wrong storage. The wait is then minutes, not days. When the
// other instance stops exporting, the wait is at most one interval.
func TestWaitIsBoundedWithOtherInstances(t *testing.T) {
	limit := &Rules{ConfiguredLimit: Rule{Interval: 2 * time.Second, Burst: 10}, Window: 5 * time.Minute, Mode: Enforce}
	for _, others := range []int{10_000, 1 << 30} {
		b := NewBudgets(start)
		b.SetSharing(start, true)
		b.ChargeRequest(start, claimed.from(0), limit) // adds the shared budget of the name
		at := start
		for range 2 {
			at = at.Add(15 * time.Second)
			data := fmt.Sprintf(`{"saved":%q,"requests":{"%x":%d}}`, at.Format(time.RFC3339), newSharedID(&claimed, limit.ConfiguredLimit), others)
			if err := b.Import("other", []byte(data), at); err != nil {
				t.Fatal(err)
			}
		}
		over := false
		for i := range 30 {
			p := b.ChargeRequest(at, claimed.from(i), limit)
			over = over || p.IsOverRate
			if p.Wait < 0 || p.Wait > limit.Window {
				t.Fatalf("%d requests elsewhere: wait is %v", others, p.Wait)
			}
		}
		if !over {
			t.Errorf("%d requests elsewhere: no request was over the rate", others)
		}
		at = at.Add(2 * time.Minute)
		b.SetSharing(at, true)
		if live(b) != 0 {
			t.Fatal("the counts of the other instance still apply")
		}
		if p := b.ChargeRequest(at, claimed.from(40), limit); p.Wait > 2*time.Second {
			t.Errorf("%d requests elsewhere, two minutes ago: wait is %v", others, p.Wait)
		}
	}
}

// TestMilderLimit replaces a strict limit by a mild limit. Requests before the change lead to no
// longer wait than the mild limit allows.
func TestMilderLimit(t *testing.T) {
	b := NewBudgets(start)
	strict := &Rules{ConfiguredLimit: Rule{Interval: 2 * time.Hour, Burst: 12}, Window: 5 * time.Minute}
	for range 20 {
		b.ChargeRequest(start, &verified, strict)
	}
	mild := &Rules{ConfiguredLimit: Rule{Interval: time.Second, Burst: 10}, Window: 5 * time.Minute}
	if p := b.ChargeRequest(start, &verified, mild); p.Wait > time.Second {
		t.Errorf("wait is %v", p.Wait)
	}
	if p := b.ChargeRequest(start.Add(10*time.Second), &verified, mild); p.IsOverRate {
		t.Errorf("ten seconds later the request is over the rate, and wait is %v", p.Wait)
	}
}

// TestLimitsAreIndependent sends a crawler alternately to paths with a strict limit and a mild
// limit. Neither limit affects the budget of the other.
func TestLimitsAreIndependent(t *testing.T) {
	b := NewBudgets(start)
	strict := &Rules{ConfiguredLimit: Rule{Interval: time.Minute, Burst: 5}, Window: 5 * time.Minute}
	mild := &Rules{ConfiguredLimit: Rule{Interval: time.Second, Burst: 5}, Window: 5 * time.Minute}
	passed := [2]int{}
	for at := time.Duration(0); at < 10*time.Minute; at += time.Second {
		for i, rules := range []*Rules{strict, mild} {
			if !b.ChargeRequest(start.Add(at), &verified, rules).IsOverRate {
				passed[i]++
			}
		}
	}
	if passed != [2]int{5 + 9, 600} {
		t.Errorf("%v passed", passed)
	}
}
