package managed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// The naive model has a base as a list of groups. It searches the list for the rules of a crawler.
type modelGroup struct {
	names []string
	rules []string
}

var (
	modelNames = []string{"*", "GPTBot", "CCBot", "Googlebot", "Googlebot-Image", "bingbot", "BingPreview", "Applebot", "Applebot-Extended", "FooBot", "SemrushBot", policy.TrainingToken}
	modelPaths = []string{"/", "/a", "/a/", "/a/b", "/b", "/*.pdf$", "/a*c", "/b?q", "/c/d/e", "*"}
	modelTried = []string{"/", "/a", "/ab", "/a/", "/a/b", "/a/bc", "/abc", "/b", "/b?q=1", "/x.pdf", "/x.pdf?y", "/c", "/c/d/e/f", "/zzz", "/a/x.pdf"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func randomBase(r *rand.Rand) (groups []modelGroup, text string) {
	var b strings.Builder
	for range r.IntN(5) {
		var g modelGroup
		for range 1 + r.IntN(3) {
			g.names = append(g.names, pick(r, modelNames))
			fmt.Fprintf(&b, "%s: %s%s\n", pick(r, []string{"User-agent", "user-agent", "USER-AGENT "}), g.names[len(g.names)-1], pick(r, []string{"", " # who", " "}))
		}
		if r.IntN(4) == 0 {
			b.WriteString(pick(r, []string{"\n", "# a comment\n", "Sitemap: https://a.example/s\n", "\r\n"}))
		}
		for range 1 + r.IntN(4) {
			rule := ruleLine(r.IntN(3) == 0, pick(r, modelPaths))
			g.rules = append(g.rules, rule)
			if r.IntN(4) == 0 {
				use := policy.ContentUsage + ": " + randomUse(r)
				g.rules = append(g.rules, use)
				rule = use + "\n" + rule
			}
			b.WriteString(rule + pick(r, []string{"\n", "\r\n", " # why\n", "\n\n", "\nCrawl-delay: 3\n"}))
		}
		groups = append(groups, g)
	}
	return groups, strings.TrimRight(b.String(), pick(r, []string{"\n", ""}))
}

// obeys returns the rules of a crawler with these names.
func obeys(groups []modelGroup, names []string) (rules []string) {
	return obeysByName(groups, append(names, AnyCrawler))
}

// obeysByName returns the same without the * group.
func obeysByName(groups []modelGroup, names []string) (rules []string) {
	for _, name := range names {
		found := false
		for _, g := range groups {
			for _, n := range g.names {
				if strings.EqualFold(n, name) {
					rules, found = append(rules, g.rules...), true
					break
				}
			}
		}
		if found {
			return rules
		}
	}
	return nil
}

// modelOf returns the rules of a crawler from the base and the added rules.
func modelOf(groups []modelGroup, rules []Rule, c *uaident.Crawler, name string) []string {
	names := []string{name}
	if c != nil {
		names = crawlerGroupNames(c)
	}
	hasOwn := policy.IsTraining(name) // does not inherit from *
	for _, n := range names {
		for _, g := range groups {
			for _, named := range g.names {
				hasOwn = hasOwn || strings.EqualFold(named, n)
			}
		}
	}
	said := obeys(groups, names)
	if policy.IsTraining(name) {
		said = obeysByName(groups, names)
	}
	if !hasOwn {
		said = saidBy(said, rules, func(word string) bool { return word == AnyCrawler })
	}
	return saidBy(said, rules, func(word string) bool {
		return strings.EqualFold(word, name) || c != nil && (c.Class.String() == word || strings.EqualFold(word, c.Token))
	})
}

func saidBy(said []string, rules []Rule, about func(word string) bool) []string {
	whole, added := "", []string(nil)
	for _, r := range rules {
		switch {
		case r.ContentUsage != "" || !about(r.For[0]):
		case len(r.Paths) == 0:
			whole = ruleLine(r.Allow, "/")
		default:
			for _, path := range r.Paths {
				added = append(added, ruleLine(r.Allow, path))
			}
		}
	}
	if whole != "" {
		said = []string{whole}
	}
	return append(append([]string(nil), said...), added...)
}

func randomRules(r *rand.Rand) (rules []Rule) {
	words := append([]string{"ai_training", "seo", "archive"}, modelNames...)
	for i := range r.IntN(5) {
		rule := Rule{ID: fmt.Sprint(i), For: []string{pick(r, words)}, Allow: r.IntN(3) == 0}
		if rule.For[0] == "FooBot" || rule.For[0] == policy.TrainingToken {
			rule.For[0] = "token:" + rule.For[0]
		}
		if r.IntN(3) == 0 {
			rule.Allow, rule.ContentUsage = false, randomUse(r)
			if r.IntN(2) == 0 {
				rule.For = nil
			}
			rules = append(rules, rule)
			continue
		}
		for range r.IntN(3) {
			rule.Paths = append(rule.Paths, pick(r, modelPaths))
		}
		rules = append(rules, rule)
	}
	return rules
}

// TestComposedTextsSayWhatBaseAndRulesSay compares composed files with the model for every token and
// path. Verdicts of crawlers without a rule do not change, and a disallow rule never allows a path.
func TestComposedTextsSayWhatBaseAndRulesSay(t *testing.T) {
	registry := uaident.Default()
	most := 200_000
	if os.Getenv("LONG_TESTS") != "" {
		most = 5_000_000
	}
	pairs, texts := 0, 0
	for seed := uint64(0); pairs < most; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		groups, base := randomBase(r)
		rules := randomRules(r)
		plan, err := planOf(registry, rules, nil, nil)
		if err != nil {
			if !strings.Contains(err.Error(), "both allowed and disallowed") && !strings.Contains(err.Error(), "both yes and no") {
				t.Fatal(err)
			}
			continue
		}
		for i := range rules {
			if len(rules[i].For) > 0 {
				rules[i].For[0] = strings.TrimPrefix(rules[i].For[0], "token:")
			}
		}
		text, err := plan.Compose([]byte(base), "")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		texts++
		robots, before := policy.Parse(text), policy.Parse([]byte(base))
		crawlers := append([]string{"Nobody", "Googlebot-News", "ClaudeBot", "Google-Extended", "AhrefsBot", "ia_archiver"}, modelNames[1:]...)
		for range 10 {
			crawlers = append(crawlers, registry.Crawlers()[r.IntN(len(registry.Crawlers()))].Token)
		}
		for _, name := range crawlers {
			c := registry.Lookup(name)
			names := []string{name}
			if c != nil {
				names = crawlerGroupNames(c)
			}
			said := modelOf(groups, rules, c, name)
			want := policy.Parse([]byte("User-agent: *\n" + strings.Join(said, "\n"))).Select(true)
			got, old := robots.Select(true, names...), before.Select(true, names...)
			if policy.IsTraining(name) {
				got, old = robots.TrainingGroup(), before.TrainingGroup()
			}
			onlyForbids := true
			for _, rule := range rules {
				onlyForbids = onlyForbids && !rule.Allow
			}
			if wanted, got := usesOf(groups, rules, c, name), uses(obeys(groupsOf(robots), names)); !policy.IsTraining(name) && !maps.Equal(got, wanted) {
				t.Fatalf("seed %d: %s is told %v, by the model %v\nrules %+v\nbase\n%s\ncomposed\n%s", seed, name, got, wanted, rules, base, text)
			}
			for _, path := range modelTried {
				pairs++
				if got.Judge(path).Allowed != want.Judge(path).Allowed {
					t.Fatalf("seed %d: %s may fetch %s: %t, by the model %t (%v)\nrules %+v\nbase\n%s\ncomposed\n%s", seed, name, path, got.Judge(path).Allowed, want.Judge(path).Allowed, said, rules, base, text)
				}
				if onlyForbids && got.Judge(path).Allowed && !old.Judge(path).Allowed {
					t.Fatalf("seed %d: rules that forbid have opened %s to %s", seed, path, name)
				}
			}
		}
		again, _ := plan.Compose([]byte(base), "")
		if string(again) != string(text) {
			t.Fatalf("seed %d: two texts of one plan", seed)
		}
	}
	t.Logf("%d texts, %d pairs of crawler and path", texts, pairs)
}
