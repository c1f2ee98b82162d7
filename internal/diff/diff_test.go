package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

var bingbot = uaident.Identify("bingbot/2.0")

func pairOf(before, after string) Edit {
	return Edit{policy.Parse([]byte(before)), policy.Parse([]byte(after))}
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name, old, new string
		crawler        string // a crawler whose verdicts change; empty for none
		blocked        string // the URLs that become disallowed
		opened         string
		search, any    bool
	}{
		{"nothing", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\n", "", "", "", false, false},
		{"another spelling and order", "User-agent: *\nDisallow: /~a\nAllow: /b\n", "User-agent: *\nAllow: /b\nDisallow: /%7ea\n", "", "", "", false, false},
		{"a rule more", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\nDisallow: /b\n", "Googlebot", "/b", "", true, true},
		{"a rule less", "User-agent: *\nDisallow: /a\nDisallow: /b\n", "User-agent: *\nDisallow: /a\n", "bingbot", "", "/b", false, false},
		{"a rule that was covered", "User-agent: *\nDisallow: /a\nDisallow: /a/b\n", "User-agent: *\nDisallow: /a\n", "", "", "", false, false},
		{"a rule for one", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /\n", "GPTBot", "/", "", false, true},
		{"a named group that forgets those of *", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\n\nUser-agent: bingbot\nDisallow: /b\n", "bingbot", "/b", "/a", true, true},
		{"a wildcard before an allow rule", "User-agent: *\nAllow: /a\nDisallow: /\n", "User-agent: *\nAllow: /a\nDisallow: /\nDisallow: /*.pdf\n", "Googlebot", "/a.pdf", "", true, true},
		{"a name that only the files know", "User-agent: acmescraper\nDisallow:\n", "User-agent: acmescraper\nDisallow: /\n", "acmescraper", "/", "", false, true},
		{"a token that nobody sends", "", "User-agent: Google-Extended\nDisallow: /\n", "", "", "", false, false},
		{"the end of a rule", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a$\n", "Googlebot", "", "/aexample", false, false},
		{"an index page", "User-agent: *\nDisallow: /a/\nAllow: /a/index.html\n", "User-agent: *\nDisallow: /a/\n", "Googlebot", "/a/index.html", "", true, true},
		{"Crawl-delay among the names", "User-agent: bingbot\nUser-agent: CCBot\nDisallow: /\n", "User-agent: bingbot\nCrawl-delay: 1\nUser-agent: CCBot\nDisallow: /\n", "bingbot", "", "/", false, false},
		{"a misspelt key, corrected", "User-agent: *\nDisalow: /a\n", "User-agent: *\nDisallow: /a\n", "bingbot", "/a", "", true, true},
		{"a rule that only Google's crawlers read", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\nDisalow: /b\n", "Googlebot", "/b", "", true, true},
		{"a colon less", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow /a\n", "GPTBot", "", "/a", false, false},
		{"a colon less in a line about bots", "User-agent: GPTBot\nDisallow:\n\nUser-agent: *\nDisallow: /a\n", "User-agent GPTBot\nDisallow:\n\nUser-agent: *\nDisallow: /a\n", "", "", "", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pair := pairOf(tc.old, tc.new)
			r := pair.Compare()
			if tc.crawler == "" {
				if len(r.Changes) > 0 {
					t.Errorf("%+v", r.Changes)
				}
				return
			}
			at := slices.IndexFunc(r.Changes, func(c Change) bool {
				return slices.ContainsFunc(c.Crawlers, func(of ClassCrawlers) bool { return slices.Contains(of.Names, tc.crawler) })
			})
			if at < 0 {
				t.Fatalf("nothing changes for %s: %+v", tc.crawler, r.Changes)
			}
			c := r.Changes[at]
			if got := urls(c.NewlyDisallowed); got != tc.blocked {
				t.Errorf("blocked %q, want %q", got, tc.blocked)
			}
			if got := urls(c.NewlyAllowed); got != tc.opened {
				t.Errorf("opened %q, want %q", got, tc.opened)
			}
			if search := pair.ShutsOutSearch(r); search != tc.search || r.DisallowsNewURL() != tc.any {
				t.Errorf("search %t, any %t", search, r.DisallowsNewURL())
			}
		})
	}
}

func urls(examples []ExampleURL) string {
	var all []string
	for _, e := range examples {
		all = append(all, e.URL)
	}
	return strings.Join(all, " ")
}

// TestSearchFirst checks the order of classes and names.
func TestSearchFirst(t *testing.T) {
	r := pairOf("", "User-agent: GPTBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n").Compare()
	if len(r.Changes) != 2 || r.Changes[0].Crawlers[0].Class != "search" || r.Changes[0].Crawlers[0].Names[0] != "Googlebot" {
		t.Errorf("%+v", r.Changes)
	}
}

// TestAgainstAllPaths compares random small files on every short path. Each changed verdict must
// cause a reported change, and each example must be a change.
func TestAgainstAllPaths(t *testing.T) {
	paths := []string{"/"}
	for from := 0; len(paths) < 1000; {
		to := len(paths)
		for _, p := range paths[from:to] {
			for _, c := range "ab/" {
				if !strings.HasSuffix(p+string(c), "//") {
					paths = append(paths, p+string(c))
				}
			}
		}
		from = to
	}
	random := rand.New(rand.NewPCG(3, 4))
	file := func() string {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for range random.IntN(4) {
			b.WriteString([]string{"Allow: /", "Disallow: /"}[random.IntN(2)])
			for range random.IntN(4) {
				b.WriteString([]string{"a", "b", "/", "*", "a", "b"}[random.IntN(6)])
			}
			b.WriteString([]string{"\n", "\n", "\n", "$\n"}[random.IntN(4)])
		}
		return b.String()
	}
	differ, missed := 0, 0
	for range 300 {
		old, edited := file(), file()
		p := pairOf(old, edited)
		r := p.Compare()
		found := len(r.Changes) > 0
		for _, c := range r.Changes {
			for _, list := range [][]ExampleURL{c.NewlyDisallowed, c.NewlyAllowed} {
				for _, e := range list {
					if allows(p.Old, e.URL) == allows(p.New, e.URL) {
						t.Fatalf("%q, %q: %s does not change", old, edited, e.URL)
					}
				}
			}
		}
		for _, path := range paths {
			if allows(p.Old, path) != allows(p.New, path) {
				differ++
				if !found {
					missed++
					t.Logf("%q, %q: %s changes", old, edited, path)
				}
				break
			}
		}
	}
	t.Logf("%d of 300 differ, %d were missed", differ, missed)
	if differ < 100 || missed > 0 {
		t.Errorf("%d of %d changes were missed", missed, differ)
	}
}

func TestCommon(t *testing.T) {
	for _, tc := range []struct {
		a, b, want string
		ok         bool
	}{
		{"/a", "/a/b", "/a/b", true},
		{"/a$", "/a/b", "", false},
		{"/*b", "/a*", "/ab", true},
		{"/*.pdf$", "/docs/", "/docs/.pdf", true},
		{"/a", "/b", "", false},
		{"*", "*", "/", true},
		{"/*a*b$", "/*b*a$", "", false},
		{"/" + strings.Repeat("*a", 140), "/" + strings.Repeat("a*", 140), "/" + strings.Repeat("a", 140), true},
		{"/" + strings.Repeat("a", 400), "/", "", false},
	} {
		if got, ok := findCommonPath(tc.a, tc.b); got != tc.want || ok != tc.ok {
			t.Errorf("%s and %s: %q %t, want %q %t", tc.a, tc.b, got, ok, tc.want, tc.ok)
		}
	}
}

// TestHostile compares files that need much work.
func TestHostile(t *testing.T) {
	var old, edited strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&old, "User-agent: n%d\nDisallow: /*%d*a\n", i, i)
		fmt.Fprintf(&edited, "User-agent: n%d\nDisallow: /*%d*b\n", i, i)
	}
	pairOf(old.String(), edited.String()).Compare()
	pairOf("User-agent: *\n"+strings.ReplaceAll(old.String(), "User-agent", "x"), "User-agent: *\n"+strings.ReplaceAll(edited.String(), "User-agent", "x")).Compare()
}

// TestWork checks that the search for common paths stops at its limit.
func TestWork(t *testing.T) {
	after := policy.Parse([]byte("User-agent: *\nDisallow: /*b\nAllow: /a*\n")).Select(true).Rules()
	for work, want := range map[int]bool{0: false, 1000: true} {
		found := false
		for path := range candidateURLs(nil, after, after[:1], work) {
			found = found || path == "/ab"
		}
		if found != want {
			t.Errorf("work %d: /ab is found %t", work, found)
		}
	}
}

// allows reports whether a file allows a path for bingbot, without the search.
func allows(robots *policy.Robots, path string) bool {
	allowed, _ := newPathJudge(bingbot, robots).judge(path)
	return allowed
}
