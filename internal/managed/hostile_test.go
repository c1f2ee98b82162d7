package managed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// A base in which many crawlers stand above many lines, and none of them lacks the
// same, is refused before it takes long: each would get a copy of the lines.
func TestCopiesAreBounded(t *testing.T) {
	var base strings.Builder
	for i := 0; base.Len() < policy.MaxSize/3; i++ {
		fmt.Fprintf(&base, "User-agent: b%d\n", i)
	}
	for i := 0; base.Len() < policy.MaxSize-1000; i++ {
		fmt.Fprintf(&base, "Disallow: /%d\n", i)
	}
	base.WriteString("User-agent: b0\nContent-Usage: train-ai=y\nDisallow: /x\n")
	plan, err := NewPlan(uaident.Default(), []Rule{{ID: "content_usage", Usage: "train-ai=n"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := plan.Compose([]byte(base.String()), "a.test")
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "too many crawlers") {
			t.Errorf("got %v", err)
		}
	case <-time.After(30 * time.Second): // of which a machine that does nothing else needs a hundredth
		t.Fatal("it takes too long")
	}
}

// A time that cannot be stored is none: 24 hours are no offset of RFC 3339, which
// package time lets pass.
func TestOffsetOfADay(t *testing.T) {
	if w, err := ParseWindow("2026-01-01T00:00:00+24:00", ""); err == nil {
		t.Errorf("got %v", w)
	}
}
