package caddymodule

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestCrawlerLabelsAreBounded(t *testing.T) {
	l := newLabels()
	got := make(map[string]bool)
	for i := range 1000 {
		got[l.crawler("example.com", fmt.Sprintf("bot%d", i), true)] = true
	}
	if len(got) != maxCrawlerLabels+1 || !got[otherLabel] {
		t.Errorf("%d values, want %d and %s", len(got), maxCrawlerLabels, otherLabel)
	}
}

func TestCrawlerLabelsKeepRoomForTheOwnersNames(t *testing.T) {
	l := newLabels()
	for i := range 1000 {
		l.crawler("example.com", fmt.Sprintf("bot%d", i), false)
	}
	for i := range ownersShare {
		name := fmt.Sprintf("named%d", i)
		if got := l.crawler("example.com", name, true); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
	if got := l.crawler("example.com", "late", true); got != otherLabel {
		t.Errorf("a name beyond the bound became %s", got)
	}
}

func TestCrawlerLabelsAreNeverReassigned(t *testing.T) {
	l := newLabels()
	first := make(map[string]string)
	for range 3 {
		for i := range 100 {
			name := fmt.Sprintf("bot%d", i)
			label := l.crawler("example.com", name, i%2 == 0)
			if before, ok := first[name]; ok && before != label {
				t.Fatalf("%s was %s and is %s", name, before, label)
			}
			first[name] = label
		}
	}
	if got := l.crawler("example.org", "bot99", false); got != "bot99" {
		t.Errorf("another host gave %s, want a label of its own", got)
	}
}

func TestCrawlerLabelsForSeveralGoroutines(t *testing.T) {
	l := newLabels()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				l.crawler(fmt.Sprintf("host%d", j%5), fmt.Sprintf("bot%d", (i+j)%60), j%2 == 0)
			}
		})
	}
	wg.Wait()
	for i := range 5 {
		if n := len(*l.host(fmt.Sprintf("host%d", i)).names.Load()); n > maxCrawlerLabels {
			t.Errorf("host%d has %d names", i, n)
		}
	}
}

func TestViolationLinesAreLimitedPerCrawlerAndHost(t *testing.T) {
	v := newViolations()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v.now = func() time.Time { return now }
	lines := 0
	for range 100 {
		if _, ok := v.line("example.com", "FooBot"); ok {
			lines++
		}
	}
	if lines != violationBurst {
		t.Errorf("%d lines for one crawler, want %d", lines, violationBurst)
	}
	if _, ok := v.line("example.com", "BarBot"); !ok {
		t.Error("another crawler has to wait")
	}
	if _, ok := v.line("example.org", "FooBot"); !ok {
		t.Error("another host has to wait")
	}
	now = now.Add(violationInterval - 1)
	if _, ok := v.line("example.com", "FooBot"); ok {
		t.Error("the next line comes too early")
	}
	now = now.Add(1)
	if suppressed, ok := v.line("example.com", "FooBot"); !ok || suppressed != 91 {
		t.Errorf("the next line counts %d suppressed, want 91", suppressed)
	}
	if _, ok := v.line("example.com", "FooBot"); ok {
		t.Error("the line after it comes at once")
	}
	now = now.Add(violationInterval)
	if suppressed, ok := v.line("example.com", "FooBot"); !ok || suppressed != 1 {
		t.Errorf("the line after it counts %d suppressed, want 1", suppressed)
	}
	now = now.Add(time.Hour)
	lines = 0
	for range 100 {
		if _, ok := v.line("example.com", "FooBot"); ok {
			lines++
		}
	}
	if lines != violationBurst {
		t.Errorf("%d lines after a pause, want %d", lines, violationBurst)
	}
}

// Crawlers without a label would wait for one another if it were otherwise.
func TestCrawlerLabelsThatAreAllGivenTakeNoLock(t *testing.T) {
	l := newLabels()
	for i := range 1000 {
		l.crawler("example.com", fmt.Sprintf("bot%d", i), false)
	}
	c := l.host("example.com")
	c.mu.Lock()
	defer c.mu.Unlock()
	got := make(chan string, 2) // which has room even if nobody waits any more
	go func() {
		got <- c.crawler("bot0", false)
		got <- c.crawler("bot999", false)
	}()
	for _, want := range []string{"bot0", otherLabel} {
		select {
		case label := <-got:
			if label != want {
				t.Errorf("the label is %s, want %s", label, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no label while the lock is held, want %s", want)
		}
	}
}
