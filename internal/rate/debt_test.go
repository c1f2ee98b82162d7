package rate

import (
	"fmt"
	"testing"
	"time"
)

// TestNobodyPaysForOthers tells an instance of more requests elsewhere than there can
// be, as impostors cause them or a storage says: a crawler that few of its requests lead
// to here is asked to wait for minutes, not days, and for no longer than an interval
// once the others tell nothing any more.
func TestNobodyPaysForOthers(t *testing.T) {
	limit := &Rules{Configured: Rule{Interval: 2 * time.Second, Burst: 10}, Window: 5 * time.Minute, Mode: Enforce}
	for _, others := range []int{10_000, 1 << 30} {
		b := NewBudgets(start)
		b.Share(start, true)
		b.Spend(start, claimed.from(0), limit) // it is known by name from now on
		at := start
		for range 2 {
			at = at.Add(15 * time.Second)
			data := fmt.Sprintf(`{"saved":%q,"requests":{"%x":%d}}`, at.Format(time.RFC3339), sharedIDOf(&claimed, limit.Configured), others)
			if err := b.Import("other", []byte(data), at); err != nil {
				t.Fatal(err)
			}
		}
		over := false
		for i := range 30 {
			p := b.Spend(at, claimed.from(i), limit)
			over = over || p.Over
			if p.Wait < 0 || p.Wait > limit.Window {
				t.Fatalf("%d elsewhere: it is to wait for %v", others, p.Wait)
			}
		}
		if !over {
			t.Errorf("%d elsewhere: nothing was one too many", others)
		}
		at = at.Add(2 * time.Minute)
		b.Share(at, true)
		if live(b) != 0 {
			t.Fatal("the other instance is there still")
		}
		if p := b.Spend(at, claimed.from(40), limit); p.Wait > 2*time.Second {
			t.Errorf("%d elsewhere, two minutes ago: it is to wait for %v", others, p.Wait)
		}
	}
}

// TestLessIsAskedAtOnce changes what is asked to less: what was spent before counts by
// that, and not for as long as it would have.
func TestLessIsAskedAtOnce(t *testing.T) {
	b := NewBudgets(start)
	strict := &Rules{Configured: Rule{Interval: 2 * time.Hour, Burst: 12}, Window: 5 * time.Minute}
	for range 20 {
		b.Spend(start, &verified, strict)
	}
	mild := &Rules{Configured: Rule{Interval: time.Second, Burst: 10}, Window: 5 * time.Minute}
	if p := b.Spend(start, &verified, mild); p.Wait > time.Second {
		t.Errorf("it is to wait for %v", p.Wait)
	}
	if p := b.Spend(start.Add(10*time.Second), &verified, mild); p.Over {
		t.Errorf("ten seconds later it is over, and to wait for %v", p.Wait)
	}
}

// TestMilderLimitMakesNoRoom has a crawler ask in turns where a site has a strict limit
// and where it has a mild one: neither changes what is left of the other.
func TestMilderLimitMakesNoRoom(t *testing.T) {
	b := NewBudgets(start)
	strict := &Rules{Configured: Rule{Interval: time.Minute, Burst: 5}, Window: 5 * time.Minute}
	mild := &Rules{Configured: Rule{Interval: time.Second, Burst: 5}, Window: 5 * time.Minute}
	passed := [2]int{}
	for at := time.Duration(0); at < 10*time.Minute; at += time.Second {
		for i, rules := range []*Rules{strict, mild} {
			if !b.Spend(start.Add(at), &verified, rules).Over {
				passed[i]++
			}
		}
	}
	if passed != [2]int{5 + 9, 600} {
		t.Errorf("%v passed", passed)
	}
}
