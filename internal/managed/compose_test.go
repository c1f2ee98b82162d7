package managed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func disallow(who string, paths ...string) Rule {
	return Rule{For: []string{who}, Paths: paths}
}

func allow(who string, paths ...string) Rule {
	return Rule{For: []string{who}, Allow: true, Paths: paths}
}

func delay(who, seconds string) Rule {
	return Rule{For: []string{who}, CrawlDelay: seconds}
}

func prefer(usage string, who ...string) Rule {
	return Rule{For: who, ContentUsage: usage}
}

// bare returns a file without the version.
func bare(text string) string {
	before, after, found := strings.Cut(text, ", version ")
	if !found {
		return text
	}
	return before + after[12:]
}

func TestCompose(t *testing.T) {
	for _, tc := range []struct {
		name, base string
		rules      []Rule
		want       string
	}{
		{"nothing", "User-agent: *\r\nDisallow: /x", nil, "User-agent: *\r\nDisallow: /x"},
		{"the whole site, no base", "", []Rule{disallow("GPTBot")},
			"\n# Added by robots_txt\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /\n\n"},
		{"a path, no base", "", []Rule{disallow("GPTBot", "/a")},
			"\n# Added by robots_txt\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /a\n\n"},
		{"what the * group said comes along", "User-agent: * # all\nDisallow: /p # why\nCrawl-delay: 5\nSitemap: https://a.example/s.xml\n", []Rule{disallow("GPTBot", "/a")},
			"User-agent: * # all\nDisallow: /p # why\nCrawl-delay: 5\nSitemap: https://a.example/s.xml\n\n# Added by robots_txt\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /p\nCrawl-delay: 5\nDisallow: /a\n\n"},
		{"its own group grows in place", "# one\nUser-agent: GPTBot\nDisallow: /b\n\n# two\nUser-agent: *\nDisallow: /p\n", []Rule{disallow("GPTBot", "/a")},
			"# one\nUser-agent: GPTBot\nDisallow: /b\n# disallow GPTBot\nDisallow: /a\n\n# two\nUser-agent: *\nDisallow: /p\n\n# Added by robots_txt\n"},
		{"out of a shared group", "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /b\n", []Rule{disallow("GPTBot", "/a")},
			"User-agent: CCBot\nDisallow: /b\n\n# Added by robots_txt\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /b\nDisallow: /a\n\n"},
		{"the whole site in place of a group", "User-agent: GPTBot\nDisallow: /b\nAllow: /c\nUser-agent: *\nDisallow: /p\n", []Rule{disallow("GPTBot")},
			"User-agent: *\nDisallow: /p\n\n# Added by robots_txt\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /\n\n"},
		{"all but one", "User-agent: *\nDisallow: /p\n", []Rule{disallow("*"), allow("bingbot")},
			"\n# Added by robots_txt\n# disallow *\nUser-agent: *\nDisallow: /\n\n# allow bingbot\nUser-agent: bingbot\nAllow: /\n\n# As before\nUser-agent: BingPreview\nUser-agent: BingVideoPreview\nDisallow: /\n\n"},
		{"a delay for all", "User-agent: *\nDisallow: /p\nCrawl-delay: 1\n", []Rule{delay("*", "9")},
			"\n# Added by robots_txt\n# crawl_delay *\nUser-agent: *\nDisallow: /p\nCrawl-delay: 9\n\n"},
		{"a file that ends within a group", "User-agent: CCBot", []Rule{disallow("GPTBot")},
			"User-agent: CCBot\nDisallow:\n\n# Added by robots_txt\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /\n\n"},
		{"a use, for all", "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /b\n\nUser-agent: bingbot\nContent-Usage: train-ai=y\nDisallow: /c\n\nUser-agent: *\nDisallow: /p\n",
			[]Rule{prefer("train-ai=n, search=y")},
			"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /b\n# content_usage\nContent-Usage: train-ai=n, search=y\n\n" +
				"User-agent: bingbot\nContent-Usage: train-ai=y\nDisallow: /c\n# content_usage\nContent-Usage: search=y\n\n" +
				"User-agent: *\nDisallow: /p\n# content_usage\nContent-Usage: train-ai=n, search=y\n\n# Added by robots_txt\n"},
		{"a use, no base, and a crawler that may fetch nothing", "", []Rule{prefer("/blog train-ai=n"), disallow("GPTBot"), disallow("CCBot", "/a")},
			"\n# Added by robots_txt\n# content_usage\nUser-agent: *\nContent-Usage: /blog train-ai=n\nDisallow:\n\n" +
				"# disallow CCBot\nUser-agent: CCBot\nContent-Usage: /blog train-ai=n\nDisallow: /a\n\n# disallow GPTBot\nUser-agent: GPTBot\nDisallow: /\n\n"},
		{"a use in place of another", "User-agent: *\nContent-Usage: train-ai=y, search=y\nDisallow: /p\n", []Rule{prefer("train-ai=n"), prefer("train-ai=y", "GPTBot")},
			"\n# Added by robots_txt\n# content_usage\nUser-agent: *\nContent-Usage: search=y\nDisallow: /p\nContent-Usage: train-ai=n\n\n" +
				"# content_usage GPTBot\nUser-agent: GPTBot\nContent-Usage: search=y\nDisallow: /p\nContent-Usage: train-ai=y\n\n"},
		{"a signal", "User-agent: *\nAllow: /\n", []Rule{{ContentSignal: "search=yes,ai-train=no"}},
			"User-agent: *\nAllow: /\n# content_signal\nContent-Signal: search=yes, ai-train=no\n\n# Added by robots_txt\n"},
		{"a new name", "", []Rule{disallow("token:NewBot", "/a"), disallow("newbot", "/b")}, "error: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan, err := planOf(uaident.Default(), tc.rules, nil, nil)
			if err != nil {
				if !strings.HasPrefix(tc.want, "error: ") {
					t.Fatal(err)
				}
				return
			}
			got, err := plan.Compose([]byte(tc.base), "a.example")
			if err != nil {
				t.Fatal(err)
			}
			if bare(string(got)) != tc.want {
				t.Errorf("got\n%s\nwant\n%s\n%q", bare(string(got)), tc.want, got)
			}
		})
	}
}

// TestBystanders checks that a rule for Googlebot does not apply to Googlebot-Image, which falls back
// on a Googlebot group.
func TestBystanders(t *testing.T) {
	plan, err := planOf(uaident.Default(), []Rule{disallow("Googlebot", "/a")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for base, want := range map[string][2]string{
		"":                                      {"/a", ""},
		"User-agent: *\nDisallow: /p\n":         {"/a", "/p"},
		"User-agent: Googlebot\nDisallow: /g\n": {"/a", "/g"},
		"User-agent: Googlebot-Image\nDisallow: /i\n": {"/a", "/i"},
	} {
		text, err := plan.Compose([]byte(base), "")
		if err != nil {
			t.Fatal(err)
		}
		robots := policy.Parse(text)
		if robots.Select(true, "Googlebot").Judge(want[0]).Allowed {
			t.Errorf("%q: Googlebot may fetch %s", base, want[0])
		}
		image := robots.Select(true, "Googlebot-Image", "Googlebot")
		if !image.Judge("/a").Allowed || want[1] != "" && image.Judge(want[1]).Allowed {
			t.Errorf("%q: Googlebot-Image is judged otherwise than before:\n%s", base, text)
		}
	}
}

// TestClass checks that a class includes control tokens and no search engine.
func TestClass(t *testing.T) {
	plan, err := planOf(uaident.Default(), []Rule{disallow("ai_training")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := plan.Compose(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	robots := policy.Parse(text)
	for name, want := range map[string]bool{"GPTBot": false, "CCBot": false, "Google-Extended": false, "Applebot-Extended": false, "Googlebot": true, "bingbot": true, "Applebot": true} {
		if got := robots.Select(true, name).Judge("/").Allowed; got != want {
			t.Errorf("%s may fetch /: %t", name, got)
		}
	}
}

func TestPlanErrors(t *testing.T) {
	for want, rules := range map[string][]Rule{
		`"GTPBot" is not a class and not a known crawler; did you mean GPTBot?`: {disallow("GTPBot")},
		`"from" is not a crawler; write a rule with a time as a block`:          {{ID: "x", For: []string{"seo", "from"}}},
		`path "x" begins with neither / nor *`:                                  {disallow("GPTBot", "x")},
		`GPTBot is both allowed and disallowed the whole site; remove one`:      {disallow("GPTBot"), allow("gptbot")},
		`GPTBot is both allowed and disallowed /a; remove one`:                  {disallow("ai_training", "/a"), allow("GPTBot", "/a")},
		`* has two values of crawl_delay; remove one`:                           {delay("*", "1"), delay("*", "2")},
		`crawl_delay "abc" is not a number of seconds above 0 and up to 86400`:  {delay("GPTBot", "abc")},
		`crawl_delay "10\nDisallow: /" is not a number`:                         {delay("GPTBot", "10\nDisallow: /")},
		`crawl_delay "1e1" is not a number`:                                     {delay("GPTBot", "1e1")},
		`crawl_delay "0x1p3" is not a number`:                                   {delay("GPTBot", "0x1p3")},
		`crawl_delay "1.2.3" is not a number`:                                   {delay("GPTBot", "1.2.3")},
		`crawl_delay "0" is not a number`:                                       {delay("GPTBot", "0")},
		`crawl_delay "86400.5" is not a number`:                                 {delay("GPTBot", "86400.5")},
		`name the crawlers of the rule`:                                         {{ID: "x"}},
		`path "/a\nUser-agent: Googlebot" is more than one line`:                {disallow("GPTBot", "/a\nUser-agent: Googlebot")},
		`"/{http.request.header.x}" has a placeholder other than {host}`:        {disallow("GPTBot", "/{http.request.header.x}")},
		`"/{env.SHOP}/" has a placeholder other than {host}`:                    {disallow("GPTBot", "/{env.SHOP}/")},
		`"/{file./run/shop}" has a placeholder other than {host}`:               {disallow("GPTBot", "/{file./run/shop}")},
		`path "/a#b" has a #, which begins a comment; write %23`:                {disallow("GPTBot", "/a#b")},
		`"a\nb" is not a valid product token`:                                   {disallow("token:a\nb")},
	} {
		if _, err := planOf(uaident.Default(), rules, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, spec := range map[string]Spec{
		"sitemap: the value is empty; remove it":         {Sitemaps: []string{""}},
		"line: the value is empty; remove it":            {ExtraLines: []string{""}},
		`line: "Host: a\nHost: b" is more than one line`: {ExtraLines: []string{"Host: a\nHost: b"}},
		`sitemap "a" is not a complete http`:             {Sitemaps: []string{"a"}},
		`sitemap "ftp://x/a" is not a complete http`:     {Sitemaps: []string{"ftp://x/a"}},
		`sitemap "https:///a" is not a complete http`:    {Sitemaps: []string{"https:///a"}},
	} {
		if _, err := planOf(uaident.Default(), nil, spec.Sitemaps, spec.ExtraLines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, line := range []string{"", "User-agent: x", "Disallow: /", "disalow: /", "Crawl-delay: 3", "Content-Signal: ai-train=no", "Host: a\nDisallow: /"} {
		if _, err := planOf(uaident.Default(), nil, nil, []string{line}); err == nil {
			t.Errorf("the line %q is taken", line)
		}
	}
}

// TestContested uses bases that crawlers interpret differently. The composed file may become milder,
// but never stricter.
func TestContested(t *testing.T) {
	plan, err := planOf(uaident.Default(), []Rule{disallow("GPTBot", "/a"), disallow("Googlebot", "/b")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{
		"User-agent: GPTBot\nCrawl-delay: 5\nUser-agent: CCBot\nDisallow: /x\n",
		"User-agent: CCBot\nCrawl-delay: 5\nUser-agent: GPTBot\nDisallow: /x\nAllow: /x/y\n",
		"User-agent: CCBot\ndisalow: /x\nUser-agent: GPTBot\nDisallow: /\n",
		"User-agent: CCBot\nDisallow: /c\nuseragent: GPTBot\nDisallow: /g\nAllow: /c\n",
		"User-agent: *\nDisallow /x\n",
		"User-agent: bingbot\nDisalow: /x\n",
	} {
		before := policy.Parse([]byte(base))
		text, err := plan.Compose([]byte(base), "")
		if err != nil {
			t.Logf("%q: %v", base, err)
			continue
		}
		after := policy.Parse(text)
		for _, name := range []string{"GPTBot", "CCBot", "bingbot", "Googlebot", "nobody"} {
			for _, path := range []string{"/", "/x", "/x/y", "/c", "/g"} {
				if before.Select(true, name).Judge(path).Allowed && !after.Select(true, name).Judge(path).Allowed {
					t.Errorf("%q: %s is newly forbidden %s:\n%s", base, path, name, text)
				}
			}
		}
	}
}

// TestContestedForOthers rejects such a base if the file would be stricter for a crawler without a
// rule.
func TestContestedForOthers(t *testing.T) {
	for _, tc := range []struct {
		what, base string
		rule       Rule
		names      groupNames
		path       string
	}{
		{"one that falls back on a name", "useragent: Googlebot\nDisallow: *\n\nUser-agent: Googlebot-Image\n", disallow("Googlebot", "/*.pdf$"), groupNames{"Applebot", "Googlebot"}, "/"},
		{"one of another family", "User-agent: Sogou\nuser agent: bingbot\nDisallow: /*.pdf$\n", disallow("bingbot"), groupNames{"BingPreview", "bingbot"}, "/x.pdf"},
		{"the path of a rule", "user agent: gptbot/1.0\nDisallow /\n", disallow("*", "/a"), groupNames{"GPTBot"}, "/a"},
		{"the group above", "User-agent: archive.org_bot\ndisalow: *\nUser-agent ia_archiver\ndisalow:\n", disallow("ia_archiver", "/a/b"), groupNames{"archive.org_bot"}, "/a/b"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			plan, err := planOf(uaident.Default(), []Rule{tc.rule}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := policy.Parse([]byte(tc.base)).Select(true, tc.names...)
			if !before.Judge(tc.path).Allowed {
				t.Fatalf("%s is forbidden %s already", tc.names[0], tc.path)
			}
			if text, err := plan.Compose([]byte(tc.base), ""); err == nil && !policy.Parse(text).Select(true, tc.names...).Judge(tc.path).Allowed {
				t.Errorf("%s is newly forbidden %s:\n%s", tc.names[0], tc.path, text)
			}
		})
	}
}

// TestContestedAndLong rejects a long base of this kind, because the comparison would need minutes.
func TestContestedAndLong(t *testing.T) {
	plan, err := planOf(uaident.Default(), []Rule{disallow("GPTBot", "/a")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, group := range map[string]string{
		"rules": "User-agent: b%d\nDisallow: /*a*b%[1]d\n",
		"names": "User-agent: b%d\nCrawl-delay: 1\n",
	} {
		base := []byte("useragent: x\nDisallow: /y\n")
		for i := 0; len(base) < policy.MaxSize-1000; i++ {
			base = fmt.Appendf(base, group, i)
		}
		if _, err = plan.Compose(base, ""); err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
