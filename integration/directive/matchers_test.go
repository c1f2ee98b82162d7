package directive

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestMatchers uses the matchers in sites with and without the handler.
func TestMatchers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, matcher string
		without       bool // without the handler
		yes, no       []harness.Visit
	}{
		{name: "any crawler", matcher: "robots_crawler", without: true,
			yes: []harness.Visit{{UserAgent: harness.Bingbot}, {UserAgent: harness.UptimeRobot}, {UserAgent: harness.FooBot}, {UserAgent: harness.Slack}},
			no:  []harness.Visit{{UserAgent: harness.Firefox}, {UserAgent: ""}, {UserAgent: harness.Curl}, {UserAgent: harness.Headless}, {UserAgent: "MyApp/1.0"}}},
		{name: "token", matcher: "robots_crawler Googlebot GPTBot", without: true,
			yes: []harness.Visit{{UserAgent: harness.Googlebot}, {UserAgent: harness.GPTBot}, {UserAgent: "gptbot"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot}, {UserAgent: harness.GooglebotImage}, {UserAgent: harness.Firefox}, {UserAgent: harness.Chrome + " (not GPTBotty)"}}},
		{name: "class", matcher: "robots_crawler ai_training library", without: true,
			yes: []harness.Visit{{UserAgent: harness.GPTBot}, {UserAgent: harness.Curl}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot}, {UserAgent: harness.Firefox}, {UserAgent: ""}}},
		{name: "identity", matcher: "robots_crawler claimed", without: true,
			yes: []harness.Visit{{UserAgent: harness.GPTBot}, {UserAgent: harness.Bingbot}},
			no:  []harness.Visit{{UserAgent: harness.Firefox}}},
		{name: "token and identity", matcher: "robots_crawler Googlebot verified", without: true,
			no: []harness.Visit{{UserAgent: harness.Googlebot}, {UserAgent: harness.Firefox}}},
		{name: "token of the owner's own", matcher: "robots_crawler token:zorkly", without: true,
			yes: []harness.Visit{{UserAgent: "zorkly/1.0"}, {UserAgent: "Mozilla/5.0 (compatible; Zorkly/2)"}},
			no:  []harness.Visit{{UserAgent: "xzorkly/1.0"}, {UserAgent: harness.Firefox}}},
		{name: "expression crawler", matcher: "expression robots_crawler('Googlebot', 'ai_training') && path('/private/*')", without: true,
			yes: []harness.Visit{{UserAgent: harness.Googlebot, Path: "/private/x"}, {UserAgent: harness.GPTBot, Path: "/private/x"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/private/x"}, {UserAgent: harness.GPTBot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/private/x"}}},
		{name: "expression any crawler", matcher: "expression robots_crawler()", without: true,
			yes: []harness.Visit{{UserAgent: harness.Bingbot}}, no: []harness.Visit{{UserAgent: harness.Firefox}, {UserAgent: harness.Curl}}},
		{name: "not", matcher: "not robots_crawler", without: true,
			yes: []harness.Visit{{UserAgent: harness.Firefox}, {UserAgent: ""}, {UserAgent: harness.Curl}}, no: []harness.Visit{{UserAgent: harness.Bingbot}}},
		{name: "robots_disallowed", matcher: "robots_disallowed",
			yes: []harness.Visit{{UserAgent: harness.Bingbot, Path: "/private/x"}, {UserAgent: harness.GPTBot, Path: "/x"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/private/x"}, {UserAgent: harness.Curl, Path: "/private/x"}, {UserAgent: harness.GPTBot, Path: "/robots.txt"}}},
		{name: "robots_disallowed *", matcher: "robots_disallowed *",
			yes: []harness.Visit{{UserAgent: harness.Firefox, Path: "/private/x"}, {UserAgent: harness.Bingbot, Path: "/private/x"}, {UserAgent: harness.GPTBot, Path: "/private/x"}, {Path: "/private/x"}, {UserAgent: harness.Firefox, Path: "/x/../private/"}},
			no:  []harness.Visit{{UserAgent: harness.Firefox, Path: "/x"}, {UserAgent: harness.GPTBot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/robots.txt"}}},
		{name: "robots_disallowed of a token", matcher: "robots_disallowed GPTBot",
			yes: []harness.Visit{{UserAgent: harness.Firefox, Path: "/private/x"}, {UserAgent: harness.Firefox, Path: "/x"}},
			no:  []harness.Visit{{UserAgent: harness.Firefox, Path: "/robots.txt"}, {UserAgent: harness.Firefox, Path: "/.well-known/security.txt"}}},
		{name: "not robots_disallowed *", matcher: "not robots_disallowed *",
			yes: []harness.Visit{{UserAgent: harness.Firefox, Path: "/x"}}, no: []harness.Visit{{UserAgent: harness.Firefox, Path: "/private/x"}}},
		{name: "expression robots_disallowed('*')", matcher: "expression robots_disallowed('*') && !robots_disallowed()",
			yes: []harness.Visit{{UserAgent: harness.Firefox, Path: "/private/x"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/private/x"}, {UserAgent: harness.Firefox, Path: "/x"}}},
		{name: "expression with the placeholder of the path", matcher: `expression {http.robots_guard.path} == "disallowed"`,
			yes: []harness.Visit{{UserAgent: harness.Firefox, Path: "/private/x"}, {UserAgent: harness.Bingbot, Path: "/private/x"}},
			no:  []harness.Visit{{UserAgent: harness.Firefox, Path: "/x"}}},
		{name: "expression robots_disallowed", matcher: "expression robots_disallowed() && method('GET')",
			yes: []harness.Visit{{UserAgent: harness.Bingbot, Path: "/private/x"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/private/x"}}},
		{name: "robots_preference", matcher: "robots_preference train-ai=n",
			yes: []harness.Visit{{UserAgent: harness.Bingbot, Path: "/x"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/private/x"}, {UserAgent: harness.Bingbot, Path: "/press/x"}, {UserAgent: harness.GPTBot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/x"}}},
		{name: "robots_preference after the handler", matcher: "robots_preference train-ai=y search=y",
			yes: []harness.Visit{{UserAgent: harness.Bingbot, Path: "/press/x"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/press/x"}}},
		{name: "expression robots_preference", matcher: "expression robots_preference('search=y') || path('/other')",
			yes: []harness.Visit{{UserAgent: harness.Bingbot, Path: "/press/x"}, {UserAgent: harness.Bingbot, Path: "/other"}},
			no:  []harness.Visit{{UserAgent: harness.Bingbot, Path: "/x"}}},
		{name: "expression with a placeholder", matcher: `expression {http.robots_guard.verdict} == "disallowed" && {http.robots_guard.class} == "search"`,
			yes: []harness.Visit{{UserAgent: harness.Bingbot, Path: "/private/x"}},
			no:  []harness.Visit{{UserAgent: harness.GPTBot, Path: "/x"}, {UserAgent: harness.Firefox, Path: "/private/x"}, {UserAgent: harness.Bingbot, Path: "/x"}}},
	}
	var sites strings.Builder
	for i, tc := range cases {
		guard := "robots_guard monitor"
		if tc.without {
			guard = ""
		}
		fmt.Fprintf(&sites, matcherSite, i, guard, tc.matcher)
	}
	s := harness.Serve(t, sites.String())
	for i, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			site := fmt.Sprintf("http://m%d.test", i)
			check := func(all []harness.Visit, want string) {
				t.Helper()
				for _, v := range all {
					path, want := cmp.Or(v.Path, "/"), want
					if path == "/robots.txt" {
						want = "User-agent"
					}
					if got := harness.Get(t, s.URL(site+path), v.UserAgent).Body; !strings.HasPrefix(got, want) {
						t.Errorf("%s as %q gets %q, want %q", path, v.UserAgent, got, want)
					}
				}
			}
			s.Warm(site + "/")
			check(tc.yes, "yes")
			check(tc.no, "no")
			check(tc.yes, "yes")
		})
	}
}

// matcherSite is a site with a number, an optional guard, and a matcher.
const matcherSite = `http://m%d.test:$PORT {
	%s
	@m %s
	respond /robots.txt "User-agent: *
Content-Usage: train-ai=n
Content-Usage: /press train-ai=y, search=y
Disallow: /private/

User-agent: GPTBot
Disallow: /"
	respond @m "yes"
	respond "no"
}
`

// TestMatcherErrors checks the messages of invalid configurations.
func TestMatcherErrors(t *testing.T) {
	t.Parallel()
	for matcher, want := range map[string]string{
		"robots_crawler browser":                             "browsers are never judged",
		"robots_crawler Bad*Bot":                             "write Bad, at ",
		"robots_crawler AI":                                  "did you mean ai_training or ai_search or ai_assistant?",
		"robots_crawler verifed":                             "did you mean verified?",
		"expression robots_crawler('Googelbot')":             "did you mean Googlebot?",
		"robots_disallowed":                                  "the site for any host of server srv0: robots_disallowed needs a robots_guard before it",
		"robots_disallowed *":                                "the site for any host of server srv0: robots_disallowed needs a robots_guard before it",
		"not robots_disallowed *":                            "such as header, at ",
		"expression robots_disallowed('*')":                  "robots_disallowed needs a robots_guard before it",
		"robots_disallowed GPTBot CCBot":                     "argument",
		"robots_disallowed ai_training":                      "a robots.txt group is for a crawler; write a product token, for example GPTBot, at ",
		"robots_disallowed Googelbot":                        "did you mean Googlebot? (for a new crawler of that name write token:Googelbot), at ",
		"robots_disallowed Zyxwv":                            "is not a known crawler; write a crawler's name as in robots.txt",
		"expression robots_disallowed('Googelbot')":          "did you mean Googlebot?",
		"robots_disallowed GPT*":                             `is not a product token; write a crawler`,
		"expression robots_disallowed('a', 'b')":             "takes one product token",
		"robots_preference ai-use=n":                         "such as header, at ",
		"robots_rate over":                                   "such as header, at ",
		"robots_preference":                                  "needs a preference, for example train-ai=n",
		"robots_preference train-ai=no":                      `is not a preference; write train-ai, ai-use or search, followed by =y or =n`,
		"robots_preference train-ai=n train-ai=y":            "y and n for train-ai can never match together",
		"expression robots_preference('ai=y')":               `is not a preference`,
		"expression robots_crawler(1)":                       "takes string constants",
		"expression robots_crawler('browser')":               "browsers are never judged",
		"expression robots_crawler({http.request.header.X})": "takes string constants",
	} {
		path := harness.Files(t, map[string]string{"Caddyfile": "{\n admin off\n}\nhttp://:1 {\n @m " + matcher + "\n respond @m x\n}\n"}) + "/Caddyfile"
		_, stderr, code := harness.Command(t, "", "validate", "--config", path, "--adapter", "caddyfile")
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit status %d, %s; want %q", matcher, code, harness.Tail(stderr, 500), want)
		}
	}
}

// TestOnViolation responds to violations with handlers of the site.
func TestOnViolation(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			on_violation {
				@training robots_crawler ai_training
				respond @training "pay for {http.robots_guard.crawler}" 402
				@search robots_crawler search
				redir @search /rules 303
				header X-Slow yes
			}
		}
		respond /robots.txt "User-agent: *
Content-Usage: train-ai=n
Content-Usage: /press train-ai=y, search=y
Disallow: /private/

User-agent: GPTBot
Disallow: /"
		respond "page {path}"
	}`)
	s.Warm("/")
	harness.Visits(t, s, []harness.Visit{
		{harness.GPTBot, "/x", 402, "pay for GPTBot"},
		{harness.Bingbot, "/private/x", 303, ""},
		{harness.Bingbot, "/x", 200, "page /x"},
		{harness.FooBot, "/private/x", 200, "page /private/x"}, // no handler responds
		{harness.Firefox, "/private/x", 200, "page /private/x"},
	})
	if a := harness.Get(t, s.URL("/private/x"), harness.FooBot); a.Header.Get("X-Slow") != "yes" {
		t.Errorf("got %v", a.Header)
	}
	if a := harness.Get(t, s.URL("/x"), harness.Bingbot); a.Header.Get("X-Slow") != "" {
		t.Errorf("got %v", a.Header)
	}
	if n := s.Metrics().Sum(harness.RequestsMetric, `action="blocked"`); n != 4 {
		t.Errorf("%v requests counted as blocked, want 4", n)
	}
}
