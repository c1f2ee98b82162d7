package guard

import (
	"testing"
	"time"
)

func TestViolationLinesAreLimitedPerCrawlerAndHost(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v := newLogLimits(func() time.Time { return now })
	lines := 0
	for range 100 {
		if _, ok := v.allowMessage("example.com", "FooBot"); ok {
			lines++
		}
	}
	if lines != violationBurst {
		t.Errorf("%d lines for one crawler, want %d", lines, violationBurst)
	}
	if _, ok := v.allowMessage("example.com", "BarBot"); !ok {
		t.Error("another crawler has to wait")
	}
	if _, ok := v.allowMessage("example.org", "FooBot"); !ok {
		t.Error("another host has to wait")
	}
	now = now.Add(violationInterval - 1)
	if _, ok := v.allowMessage("example.com", "FooBot"); ok {
		t.Error("the next line comes too early")
	}
	now = now.Add(1)
	if suppressed, ok := v.allowMessage("example.com", "FooBot"); !ok || suppressed != 91 {
		t.Errorf("the next line counts %d suppressed, want 91", suppressed)
	}
	if _, ok := v.allowMessage("example.com", "FooBot"); ok {
		t.Error("the line after it comes at once")
	}
	now = now.Add(violationInterval)
	if suppressed, ok := v.allowMessage("example.com", "FooBot"); !ok || suppressed != 1 {
		t.Errorf("the line after it counts %d suppressed, want 1", suppressed)
	}
	now = now.Add(time.Hour)
	lines = 0
	for range 100 {
		if _, ok := v.allowMessage("example.com", "FooBot"); ok {
			lines++
		}
	}
	if lines != violationBurst {
		t.Errorf("%d lines after a pause, want %d", lines, violationBurst)
	}
}

func TestViolationEventsAreLimitedPerCrawlerAndHost(t *testing.T) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	now := began
	limits := newMessageLimits(func() time.Time { return now }, eventInterval, 1)
	for _, step := range []struct {
		after         time.Duration
		host, crawler string
		suppressed    uint64
		ok            bool
	}{
		{0, "a", "x", 0, true},
		{0, "a", "x", 0, false},
		{time.Minute, "a", "y", 0, true},
		{time.Minute, "b", "x", 0, true},
		{59 * time.Minute, "a", "x", 0, false},
		{time.Hour, "a", "x", 2, true},
		{time.Hour, "a", "x", 0, false},
		{3 * time.Hour, "a", "x", 1, true},
	} {
		now = began.Add(step.after)
		if suppressed, ok := limits.allowMessage(step.host, step.crawler); suppressed != step.suppressed || ok != step.ok {
			t.Errorf("after %v, %s at %s: %d %t, want %d %t", step.after, step.crawler, step.host, suppressed, ok, step.suppressed, step.ok)
		}
	}
}
