package managed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestCopiesAreBounded rejects a base with many crawlers above many lines whose missing preferences
// all differ. Each crawler would get a copy of the lines.
func TestCopiesAreBounded(t *testing.T) {
	var base strings.Builder
	for i := 0; base.Len() < policy.MaxSize/3; i++ {
		fmt.Fprintf(&base, "User-agent: b%d\n", i)
	}
	for i := 0; base.Len() < policy.MaxSize-1000; i++ {
		fmt.Fprintf(&base, "Disallow: /%d\n", i)
	}
	base.WriteString("User-agent: b0\nContent-Usage: train-ai=y\nDisallow: /x\n")
	plan, err := planOf(uaident.Default(), []Rule{{ContentUsage: "train-ai=n"}}, nil, nil)
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

// TestOffsetOfADay rejects an offset of 24 hours. RFC 3339 has no such offset, but package time
// accepts it.
func TestOffsetOfADay(t *testing.T) {
	if w, err := ParseWindow("2026-01-01T00:00:00+24:00", ""); err == nil {
		t.Errorf("got %v", w)
	}
}

// TestTablesAreBounded rejects many rules for all hosts together with many hosts with their own
// rules. Each alone is accepted.
func TestTablesAreBounded(t *testing.T) {
	many := func(common, hosts int) []Rule {
		var rules []Rule
		for i := range common {
			rules = append(rules, Rule{ID: fmt.Sprint("common", i), For: []string{"GPTBot"}, Paths: []string{fmt.Sprintf("/%d", i)}})
		}
		for i := range hosts {
			rules = append(rules, Rule{ID: fmt.Sprint("own", i), For: []string{"CCBot"}, Paths: []string{"/x"}, Hosts: []string{fmt.Sprintf("h%d.test", i)}})
		}
		return rules
	}
	for _, tc := range []struct {
		common, hosts int
		refused       bool
	}{{5000, 5000, true}, {5000, 1, false}, {1, 5000, false}} {
		_, err := NewSchedule(uaident.Default(), Spec{Rules: many(tc.common, tc.hosts)})
		if tc.refused != (err != nil) || err != nil && !strings.Contains(err.Error(), "too many rules for too many hosts: 5000 rules for all hosts, and 5000 hosts") {
			t.Errorf("%d rules and %d hosts: %v", tc.common, tc.hosts, err)
		}
	}
}
