package managed

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// BenchmarkCompose composes files from bases with different numbers of rules.
func BenchmarkCompose(b *testing.B) {
	plan, err := planOf(uaident.Default(), []Rule{disallow("ai_training"), disallow("SemrushBot", "/a", "/b"), disallow("*", "/c")}, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, rules := range []int{10, 1000, 10_000} {
		var base bytes.Buffer
		base.WriteString("User-agent: *\n")
		for i := range rules {
			fmt.Fprintf(&base, "Disallow: /path/%d\n", i)
		}
		b.Run(fmt.Sprintf("%drules", rules), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plan.Compose(base.Bytes(), "a.example"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkComposeRules composes a file from many timed rules, including the plan. Most rules have
// one path.
func BenchmarkComposeRules(b *testing.B) {
	var rules []Rule
	for i := range 10_000 {
		rules = append(rules, during(disallow([]string{"GPTBot", "*", "SemrushBot"}[i%3], fmt.Sprintf("/path/%d", i)), fmt.Sprint("r", i), epoch, time.Time{}))
	}
	s := newSchedule(b, rules...)
	base := []byte("User-agent: *\nDisallow: /p\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Period{s.commonTable, 1}).compilePlan().Compose(base, "a.example"); err != nil {
			b.Fatal(err)
		}
	}
}
