package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestComposedTextsAreReadAlike checks that other parsers interpret a composed
// robots.txt as we do. The paths have no escapes or wildcards, because parsers disagree
// about those (see TestAgreement). temoto applies only one group to a crawler. Composed
// files have one group for each crawler that a rule names.
func TestComposedTextsAreReadAlike(t *testing.T) {
	names := []string{"GPTBot", "CCBot", "Googlebot", "Googlebot-Image", "bingbot", "SemrushBot"}
	paths := []string{"/", "/a", "/a/b", "/b", "/c/d"}
	pairs := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var base strings.Builder
		perm := r.Perm(len(names))
		for i := range r.IntN(4) { // each name in one group, because temoto applies only one
			fmt.Fprintf(&base, "User-agent: %s\n", names[perm[i]])
			if r.IntN(2) == 0 {
				fmt.Fprintf(&base, "Disallow: %s\nAllow: %s\nContent-Usage: train-ai=y\n\n", paths[r.IntN(5)], paths[1+r.IntN(4)])
			}
		}
		base.WriteString("Disallow: /c\n\nUser-agent: *\nDisallow: /b\n")
		text := base.String()
		if strings.HasPrefix(text, "Disallow") {
			text = "User-agent: FooBot\n" + text
		}
		var rules []managed.Rule
		for i := range 1 + r.IntN(3) {
			rule := managed.Rule{ID: fmt.Sprint(i), For: []string{names[r.IntN(len(names))]}, Allow: r.IntN(3) == 0}
			for range r.IntN(3) {
				rule.Paths = append(rule.Paths, paths[r.IntN(5)])
			}
			rules = append(rules, rule)
		}
		preferences := []managed.Rule{
			{ID: "all", ContentUsage: "train-ai=n, search=y"}, {ID: "path", ContentUsage: "/a train-ai=n"},
			{ID: "signal", ContentSignal: "search=yes, ai-train=no"}, {ID: "one", For: []string{"SemrushBot"}, ContentUsage: "train-ai=y"},
		}
		rules = append(rules, preferences[:r.IntN(len(preferences)+1)]...)
		schedule, err := managed.NewSchedule(uaident.Default(), managed.Spec{Rules: rules})
		if err != nil {
			continue // two rules contradict each other
		}
		composed, err := schedule.Compose(time.Time{}, "a.example", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		j, err := parseAll(string(composed))
		if err != nil {
			t.Fatalf("temoto cannot parse\n%s\n%v", composed, err)
		}
		for _, rule := range rules {
			if len(rule.For) == 0 {
				continue // a rule for all crawlers, for which the base may have contradictory groups
			}
			ours := policy.Parse(composed).Select(true, rule.For[0])
			for _, path := range append(rule.Paths, paths...) {
				pairs++
				want := ours.Judge(path).Allowed
				if google := j.byGrobotstxt(rule.For[0], path); google != want {
					t.Errorf("%s %s: we allow: %t, grobotstxt allows: %t, with\n%s", rule.For[0], path, want, google, composed)
				}
				if temoto := j.byTemoto(rule.For[0], path); temoto != want {
					t.Errorf("%s %s: we allow: %t, temoto allows: %t, with\n%s", rule.For[0], path, want, temoto, composed)
				}
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
	t.Logf("compared %d pairs of crawler and path", pairs)
}
