package integration

import (
	"strings"
	"testing"
)

// TestMatchers uses the matchers in a site with and without the handler.
func TestMatchers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, matcher string
		without       bool // without the handler
		yes, no       []visit
	}{
		{name: "any crawler", matcher: "crawler", without: true,
			yes: []visit{{userAgent: bingbot}, {userAgent: uptimeRobot}, {userAgent: fooBot}, {userAgent: slack}},
			no:  []visit{{userAgent: firefox}, {userAgent: ""}, {userAgent: curl}, {userAgent: headless}, {userAgent: "MyApp/1.0"}}},
		{name: "token", matcher: "crawler Googlebot GPTBot", without: true,
			yes: []visit{{userAgent: googlebot}, {userAgent: gptBot}, {userAgent: "gptbot"}},
			no:  []visit{{userAgent: bingbot}, {userAgent: googlebotImage}, {userAgent: firefox}, {userAgent: chrome + " (not GPTBotty)"}}},
		{name: "class", matcher: "crawler ai_training library", without: true,
			yes: []visit{{userAgent: gptBot}, {userAgent: curl}},
			no:  []visit{{userAgent: bingbot}, {userAgent: firefox}, {userAgent: ""}}},
		{name: "identity", matcher: "crawler claimed", without: true,
			yes: []visit{{userAgent: gptBot}, {userAgent: bingbot}},
			no:  []visit{{userAgent: firefox}}},
		{name: "token and identity", matcher: "crawler Googlebot verified", without: true,
			no: []visit{{userAgent: googlebot}, {userAgent: firefox}}},
		{name: "token of the owner's own", matcher: "crawler zorkly", without: true,
			yes: []visit{{userAgent: "zorkly/1.0"}, {userAgent: "Mozilla/5.0 (compatible; Zorkly/2)"}},
			no:  []visit{{userAgent: "xzorkly/1.0"}, {userAgent: firefox}}},
		{name: "expression crawler", matcher: "expression crawler('Googlebot', 'ai_training') && path('/private/*')", without: true,
			yes: []visit{{userAgent: googlebot, path: "/private/x"}, {userAgent: gptBot, path: "/private/x"}},
			no:  []visit{{userAgent: bingbot, path: "/private/x"}, {userAgent: gptBot, path: "/x"}, {userAgent: firefox, path: "/private/x"}}},
		{name: "expression any crawler", matcher: "expression crawler()", without: true,
			yes: []visit{{userAgent: bingbot}}, no: []visit{{userAgent: firefox}, {userAgent: curl}}},
		{name: "not", matcher: "not crawler", without: true,
			yes: []visit{{userAgent: firefox}, {userAgent: ""}, {userAgent: curl}}, no: []visit{{userAgent: bingbot}}},
		{name: "robots_disallowed", matcher: "robots_disallowed", without: true,
			yes: []visit{{userAgent: bingbot, path: "/private/x"}, {userAgent: gptBot, path: "/x"}},
			no:  []visit{{userAgent: bingbot, path: "/x"}, {userAgent: firefox, path: "/private/x"}, {userAgent: curl, path: "/private/x"}, {userAgent: gptBot, path: "/robots.txt"}}},
		{name: "robots_disallowed after the handler", matcher: "robots_disallowed",
			yes: []visit{{userAgent: bingbot, path: "/private/x"}, {userAgent: gptBot, path: "/x"}},
			no:  []visit{{userAgent: bingbot, path: "/x"}, {userAgent: firefox, path: "/private/x"}}},
		{name: "expression robots_disallowed", matcher: "expression robots_disallowed() && method('GET')", without: true,
			yes: []visit{{userAgent: bingbot, path: "/private/x"}},
			no:  []visit{{userAgent: bingbot, path: "/x"}, {userAgent: firefox, path: "/private/x"}}},
		{name: "expression with a placeholder", matcher: `expression {http.robots_guard.verdict} == "disallowed" && {http.robots_guard.class} == "search"`,
			yes: []visit{{userAgent: bingbot, path: "/private/x"}},
			no:  []visit{{userAgent: gptBot, path: "/x"}, {userAgent: firefox, path: "/private/x"}, {userAgent: bingbot, path: "/x"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			site := `http://a.test:$PORT {
				robots_guard monitor
				@m $MATCHER
				respond /robots.txt "User-agent: *
Disallow: /private/

User-agent: GPTBot
Disallow: /"
				respond @m "yes"
				respond "no"
			}`
			if tc.without {
				site = strings.Replace(site, "robots_guard monitor", "", 1)
			}
			s := serve(t, site, "$MATCHER", tc.matcher)
			check := func(all []visit, want string) {
				for _, v := range all {
					if v.path == "" {
						v.path = "/"
					}
					if strings.HasPrefix(v.path, "/robots.txt") {
						want = "User-agent"
					}
					eventually(t, v.path+" as "+v.userAgent+" is answered "+want, func() bool {
						return strings.HasPrefix(get(t, s.url(v.path), v.userAgent).body, want)
					})
				}
			}
			s.warm("/")
			check(tc.yes, "yes")
			check(tc.no, "no")
			check(tc.yes, "yes")
		})
	}
}

// TestMatcherErrors has configurations that fail to load, with a message.
func TestMatcherErrors(t *testing.T) {
	t.Parallel()
	for matcher, want := range map[string]string{
		"crawler browser":                             "browsers are never judged",
		"crawler Bad*Bot":                             "neither a class",
		"robots_disallowed always":                    "argument",
		"expression robots_disallowed('x')":           "takes no argument",
		"expression crawler(1)":                       "takes string constants",
		"expression crawler('browser')":               "browsers are never judged",
		"expression crawler({http.request.header.X})": "takes string constants",
	} {
		path := files(t, map[string]string{"Caddyfile": "{\n admin off\n}\nhttp://:1 {\n @m " + matcher + "\n respond @m x\n}\n"}) + "/Caddyfile"
		_, stderr, code := command(t, "", "validate", "--config", path, "--adapter", "caddyfile")
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit status %d, %s; want %q", matcher, code, tail(stderr, 500), want)
		}
	}
}

// TestOnViolation answers with handlers of the owner's.
func TestOnViolation(t *testing.T) {
	t.Parallel()
	s := serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			on_violation {
				@training crawler ai_training
				respond @training "pay for {http.robots_guard.crawler}" 402
				@search crawler search
				redir @search /rules 303
				header X-Slow yes
			}
		}
		respond /robots.txt "User-agent: *
Disallow: /private/

User-agent: GPTBot
Disallow: /"
		respond "page {path}"
	}`)
	s.warm("/")
	visits(t, s, []visit{
		{gptBot, "/x", 402, "pay for GPTBot"},
		{bingbot, "/private/x", 303, ""},
		{bingbot, "/x", 200, "page /x"},
		{fooBot, "/private/x", 200, "page /private/x"}, // no handler responds
		{firefox, "/private/x", 200, "page /private/x"},
	})
	if a := get(t, s.url("/private/x"), fooBot); a.header.Get("X-Slow") != "yes" {
		t.Errorf("got %v", a.header)
	}
	if a := get(t, s.url("/x"), bingbot); a.header.Get("X-Slow") != "" {
		t.Errorf("got %v", a.header)
	}
	if n := s.metrics().sum(requestsMetric, `action="blocked"`); n != 4 {
		t.Errorf("%v requests counted as blocked, want 4", n)
	}
}
