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
