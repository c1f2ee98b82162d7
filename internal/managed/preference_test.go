package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestPreferencesOfTheBase combines the preferences of a base with rules about the same uses.
func TestPreferencesOfTheBase(t *testing.T) {
	for _, tc := range []struct {
		base string // for GPTBot
		rule Rule
		want policy.Preference // for /blog/1
	}{
		{"/blog train-ai=y", prefer("/blog train-ai=n"), policy.PreferenceYes},
		{"/blog\ttrain-ai=y", prefer("/blog train-ai=n"), policy.PreferenceYes},
		{"/blog \t train-ai=n", prefer("/blog train-ai=y", "GPTBot"), policy.PreferenceYes},
		{"/blog\ttrain-ai=n", prefer("/blog train-ai=y", "GPTBot"), policy.PreferenceYes},
		{"train-ai=y;ref=1", prefer("train-ai=n"), policy.PreferenceYes},
		// An invalid dictionary has no effect.
		{"train-ai=y, Search=y", prefer("train-ai=n"), policy.PreferenceNo},
		{"train-ai=y,", prefer("train-ai=n"), policy.PreferenceNo},
		{"train-ai=y search=y", prefer("train-ai=n"), policy.PreferenceNo},
		{"train-ai=n,", prefer("train-ai=y", "GPTBot"), policy.PreferenceYes},
	} {
		plan, err := planOf(uaident.Default(), []Rule{tc.rule}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Compose([]byte("User-agent: GPTBot\nContent-Usage: "+tc.base+"\nDisallow: /x\n"), "a.test")
		if err != nil {
			t.Fatal(err)
		}
		if got := preferencesOf(policy.Parse(text), "GPTBot", "/blog/1")[policy.TrainAI]; got != tc.want {
			t.Errorf("%q and %q: got %s, want %s, in\n%s", tc.base, tc.rule.ContentUsage, got, tc.want, text)
		}
	}
}

// TestPreferencesAbove uses a base whose * group has only preferences. Older parsers merge such a
// group with the next one. The next group must not inherit the preferences, and the * group must not
// inherit the next group's.
func TestPreferencesAbove(t *testing.T) {
	const base = "User-agent: *\nContent-Usage: train-ai=y, ai-use=y\n\nUser-agent: GPTBot\nContent-Usage: ai-use=n\nDisallow: /p\n"
	for _, tc := range []struct {
		name         string
		rule         Rule
		gptbot, rest string
	}{
		{"a rule about another", disallow("CCBot", "/q"), "ai-use=n", "train-ai=y, ai-use=y"},
		{"a preference about all", prefer("search=n"), "ai-use=n, search=n", "train-ai=y, ai-use=y, search=n"},
		{"one that * states", prefer("train-ai=n"), "train-ai=n, ai-use=n", "train-ai=n, ai-use=y"},
		{"one that both state", prefer("ai-use=y"), "ai-use=n", "train-ai=y, ai-use=y"},
	} {
		plan, err := planOf(uaident.Default(), []Rule{tc.rule}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Compose([]byte(base), "a.test")
		if err != nil {
			t.Fatal(err)
		}
		robots := policy.Parse(text)
		for name, want := range map[string]string{"GPTBot": tc.gptbot, "CCBot": tc.rest, "SomeBot": tc.rest} {
			if got := preferencesOf(robots, name, "/").String(); got != want {
				t.Errorf("%s: %s is told %q, want %q, in\n%s", tc.name, name, got, want, text)
			}
		}
	}
}

// TestPreferenceForAllInGroups writes a preference about all crawlers into groups of the base. A rule
// about the crawler of a group wins, whatever name of the crawler the group has. Every crawler of a
// group with several user-agent lines gets the preference.
func TestPreferenceForAllInGroups(t *testing.T) {
	for name, tc := range map[string]struct {
		base string
		own  []string        // the crawlers of a rule with train-ai=y
		want map[string]bool // whether a crawler may train, by its token
	}{
		"own name":                {"User-agent: GPTBot\nAllow: /\n", []string{"GPTBot"}, map[string]bool{"GPTBot": true, "CCBot": false}},
		"name with a version":     {"User-agent: GPTBot/1.0\nAllow: /\n", []string{"GPTBot"}, map[string]bool{"GPTBot": true, "CCBot": false}},
		"alias":                   {"User-agent: HaosouSpider\nAllow: /\n", []string{"360Spider"}, map[string]bool{"HaosouSpider": true, "360Spider": true, "CCBot": false}},
		"two names without rules": {"User-agent: GPTBot\nUser-agent: CCBot\n", nil, map[string]bool{"GPTBot": false, "CCBot": false, "bingbot": false}},
		"no line end":             {"User-agent: GPTBot\nUser-agent: CCBot", nil, map[string]bool{"GPTBot": false, "CCBot": false, "bingbot": false}},
		"one of two names":        {"User-agent: GPTBot\nUser-agent: CCBot\n", []string{"CCBot"}, map[string]bool{"GPTBot": false, "CCBot": true, "bingbot": false}},
	} {
		t.Run(name, func(t *testing.T) {
			rules := []Rule{prefer("train-ai=n")}
			if tc.own != nil {
				rules = append(rules, prefer("train-ai=y", tc.own...))
			}
			plan, err := planOf(uaident.Default(), rules, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := plan.Compose([]byte(tc.base), "a.test")
			if err != nil {
				t.Fatal(err)
			}
			for token, mayTrain := range tc.want {
				robots := policy.Parse(text)
				want := "train-ai=n"
				if mayTrain {
					want = "train-ai=y"
				}
				if got := preferencesOf(robots, token, "/").String(); got != want {
					t.Errorf("%s has %q, want %q, in\n%s", token, got, want, text)
				}
			}
		})
	}
}

// TestPreferenceForAllInSections writes a preference about all crawlers into groups with Content-Usage
// lines between the user-agent lines. Such a line applies only to the user-agent lines above it.
func TestPreferenceForAllInSections(t *testing.T) {
	for _, tc := range []struct {
		name, base string
		rules      []Rule
		want       map[string]string // the preferences of a crawler, by its token
	}{
		{"a line between two names", "User-agent: GPTBot\nContent-Usage: search=n\nUser-agent: CCBot\nDisallow: /p\n", nil,
			map[string]string{"GPTBot": "train-ai=n, search=n", "CCBot": "train-ai=n", "bingbot": "train-ai=n"}},
		{"a signal, which applies to the whole group", "User-agent: GPTBot\nContent-Usage: search=n\nUser-agent: CCBot\nDisallow: /p\n", []Rule{{ContentSignal: "ai-train=no"}},
			map[string]string{"GPTBot": "train-ai=n, search=n", "CCBot": "train-ai=n", "bingbot": "train-ai=n"}},
		{"two lines, and three names", "User-agent: GPTBot\nContent-Usage: search=n\nContent-Usage: ai-use=n\nUser-agent: CCBot\nUser-agent: FooBot\nContent-Usage: search=y\nUser-agent: bingbot\nDisallow: /p\n", nil,
			map[string]string{"GPTBot": "train-ai=n, ai-use=n, search=n", "CCBot": "train-ai=n, search=y", "FooBot": "train-ai=n, search=y", "bingbot": "train-ai=n"}},
		{"the last of two names has the preference", "User-agent: GPTBot\nContent-Usage: search=n\nUser-agent: CCBot\nContent-Usage: train-ai=y\nDisallow: /p\n", nil,
			map[string]string{"GPTBot": "train-ai=n, search=n", "CCBot": "train-ai=y"}},
		{"the second of three names lacks the preference", "User-agent: GPTBot\nContent-Usage: train-ai=y\nUser-agent: CCBot\nContent-Usage: search=n\nUser-agent: bingbot\nContent-Usage: train-ai=y\nDisallow: /p\n", nil,
			map[string]string{"GPTBot": "train-ai=y", "CCBot": "train-ai=n, search=n", "bingbot": "train-ai=y"}},
		{"a rule about the second of three names", "User-agent: GPTBot\nContent-Usage: ai-use=n\nUser-agent: CCBot\nContent-Usage: search=n\nUser-agent: bingbot\nDisallow: /p\n", []Rule{disallow("CCBot", "/q")},
			map[string]string{"GPTBot": "train-ai=n, ai-use=n", "CCBot": "train-ai=n, search=n", "bingbot": "train-ai=n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan, err := planOf(uaident.Default(), append([]Rule{prefer("train-ai=n")}, tc.rules...), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := plan.Compose([]byte(tc.base), "a.test")
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "Content-Signal: "); n > 2 { // in the group and in the * group
				t.Errorf("%d Content-Signal lines in\n%s", n, text)
			}
			robots := policy.Parse(text)
			for token, want := range tc.want {
				if got := preferencesOf(robots, token, "/").String(); got != want {
					t.Errorf("%s has %q, want %q, in\n%s", token, got, want, text)
				}
			}
		})
	}
}

// preferencesOf returns the preferences of a file for a crawler and a target.
func preferencesOf(robots *policy.Robots, token, target string) policy.Preferences {
	var t policy.Target
	t.Set(target, false)
	return robots.Preferences(robots.Select(true, token), &t, "")
}
