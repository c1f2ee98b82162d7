package explain

import (
	"reflect"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestReadings has a file whose two interpretations differ for a crawler.
func TestReadings(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /a\nDisalow: /b\n\nuseragent: c\nDisallow: /c\n"))
	var target policy.Target
	for _, tc := range []struct {
		token, target string
		want          []string // lines of the output
	}{
		{"x", "/b", []string{"  the forgiving interpretation disallows it: the group *, Disallow: /b in line 3\n", "  the strict interpretation allows it: the group *, no rule\n"}},
		{"x", "/a", []string{"  the forgiving interpretation disallows it: the group *, Disallow: /a in line 2\n", "  the strict interpretation disallows it: the group *, Disallow: /a in line 2\n"}},
		{"c", "/c", []string{"  the forgiving interpretation disallows it: the group c, Disallow: /c in line 6\n", "  the strict interpretation disallows it: the group *, Disallow: /c in line 6\n"}},
	} {
		group := robots.Select(true, tc.token)
		target.Set(tc.target, false)
		e := Explanation{Group: describeGroup(group, group.NamesCrawler())}
		e.setTarget(tc.target, &target, group)
		var text strings.Builder
		e.WriteText(&text)
		for _, want := range tc.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s for %s: no %q in\n%s", tc.target, tc.token, want, text.String())
			}
		}
	}
	one := policy.Parse([]byte("User-agent: *\nDisallow: /a\n")).Select(true)
	var e Explanation
	e.setTarget("/a", &target, one)
	if e.Interpretations != nil {
		t.Errorf("a file with one reading: %+v", e.Interpretations)
	}
}

// TestPreferences checks the preferences about an allowed page.
func TestPreferences(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a search=y\nContent-Usage: /a train-ai=y\nDisallow: /a/x\n\nUser-agent: FooBot\nDisallow: /x\nUser-agent: __usage_ai-training\nDisallow: /c\nAllow: /e\n\nUser-agent: Google-Extended\nDisallow: /d\n"))
	for _, tc := range []struct {
		token, url, text string
		want             *Preferences
	}{
		{"GPTBot", "/b", "train-ai=n, by Content-Usage in line 2: a preference about use, not a rule for fetching\n", &Preferences{"train-ai=n", []Statement{{"Content-Usage", "train-ai=n", 2}}}},
		{"GPTBot", "/a", "train-ai=y, search=y, by Content-Usage in lines 3, 4", &Preferences{"train-ai=y, search=y", []Statement{{"Content-Usage", "search=y", 3}, {"Content-Usage", "train-ai=y", 4}}}},
		{"GPTBot", "/a/x", "", nil},
		{"FooBot", "/b", "", nil},
		{"FooBot", "/c", "train-ai=n, by __usage_ai-training in line 10: a preference", &Preferences{"train-ai=n", []Statement{{"__usage_ai-training", "train-ai=n", 10}}}},
		{"Googlebot", "/d", "train-ai=n, by Content-Usage in line 2, Google-Extended in line 14", &Preferences{"train-ai=n", []Statement{{"Content-Usage", "train-ai=n", 2}, {"Google-Extended", "train-ai=n", 14}}}},
	} {
		site := Site{Registry: uaident.Default()}
		e := site.Explain(RobotsFile{Robots: robots}, Request{Token: tc.token, URL: tc.url})
		var text strings.Builder
		e.WriteText(&text)
		if !reflect.DeepEqual(e.Preferences, tc.want) || !strings.Contains(text.String(), tc.text) || tc.want == nil && strings.Contains(text.String(), "Content-Usage") {
			t.Errorf("%s at %s: %+v in\n%s", tc.token, tc.url, e.Preferences, text.String())
		}
	}
}

// TestCrawlDelay checks the Crawl-delay of a group and whether the crawler supports it.
func TestCrawlDelay(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nCrawl-delay: 40\nDisallow: /a\n\nUser-agent: FooBot\nDisallow: /a\n"))
	for _, tc := range []struct{ token, want string }{
		{"bingbot", "Crawl-delay of 40 seconds in line 2: bingbot waits 30 seconds, the maximum that its operator documents; rate enforce slows search engines only with the option search enforce\n"},
		{"CCBot", "line 2: CCBot obeys Crawl-delay, according to its operator; rate enforce answers much faster requests with 429\n"},
		{"Googlebot", "line 2: Googlebot ignores Crawl-delay, according to its operator; rate enforce does not enforce this line for the crawler\n"},
		{"GPTBot", "line 2: the operator of GPTBot does not document whether it obeys Crawl-delay; rate enforce answers much faster requests with 429\n"},
		{"BarBot", "line 2: the operator of BarBot does not document whether it obeys Crawl-delay; rate enforce answers much faster requests with 429\n"},
		{"FooBot", ""},
	} {
		site := Site{Registry: uaident.Default()}
		e := site.Explain(RobotsFile{Robots: robots}, Request{Token: tc.token, URL: "/b"})
		var text strings.Builder
		e.WriteText(&text)
		if tc.want == "" && e.Delay != nil || !strings.Contains(text.String(), tc.want) {
			t.Errorf("%s: %+v, no %q in\n%s", tc.token, e.Delay, tc.want, text.String())
		}
	}
}

// TestCrawlDelayOfExemptClient explains requests to which the * group does not apply. The explanation
// shows the group, without its Crawl-delay.
func TestCrawlDelayOfExemptClient(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nCrawl-delay: 10\nDisallow: /a\n"))
	for name, tc := range map[string]struct {
		request Request
		text    string
	}{
		"a feed reader": {Request{UserAgent: "Feedly/1.0", URL: "/b"}, "the * group in line 1 does not apply to the class feed"},
		"a POST":        {Request{UserAgent: "NewBot/1.0", URL: "/b", Method: "POST"}, "the * group in line 1 does not apply to this request"},
		"/.well-known/": {Request{UserAgent: "bingbot/2.0", URL: "/.well-known/x"}, "the * group in line 1 does not apply to this request"},
	} {
		site := Site{Registry: uaident.Default()}
		e := site.Explain(RobotsFile{Robots: robots}, tc.request)
		if e.Verdict != judge.Exempt.String() || e.Delay != nil || e.Group == nil || e.Group.Name != "*" {
			t.Errorf("%s: %s, delay %+v, group %+v", name, e.Verdict, e.Delay, e.Group)
		}
		var text strings.Builder
		if e.WriteText(&text); !strings.Contains(text.String(), tc.text) {
			t.Errorf("%s: no %q in\n%s", name, tc.text, text.String())
		}
	}
}
