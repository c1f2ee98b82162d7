package integration

import (
	"net/http"
	"strings"
	"testing"
)

// ruled is a site with a robots.txt that names many kinds of clients.
const ruled = `http://a.test:$PORT {
	robots_guard $MODE
	handle /robots.txt {
		respond <<ROBOTS
			User-agent: *
			Disallow: /private/

			User-agent: Googlebot
			Disallow: /private/
			Allow: /private/press/

			User-agent: GPTBot
			Disallow: /

			User-agent: AdsBot-Google
			Disallow: /noads/

			User-agent: curl
			User-agent: HeadlessChrome
			Disallow: /notools/

			User-agent: facebookexternalhit
			User-agent: Feedly
			User-agent: ChatGPT-User
			User-agent: UptimeRobot
			Disallow: /named/

			User-agent: acmescraper
			User-agent: zorkly
			User-agent: Firefox
			User-agent: Mozilla
			User-agent: Windows
			Disallow: /

			ROBOTS
	}
	handle {
		respond "page {path}"
	}
}
`

func TestEnforce(t *testing.T) {
	t.Parallel()
	s := serve(t, ruled, "$MODE", "enforce")
	s.warm("/")
	for name, all := range map[string][]visit{
		"named and forbidden": {
			{gptBot, "/", 403, "GPTBot"},
			{gptBot, "/any/page?x=y", 403, "GPTBot"},
			{"GPTBot/1.0", "/x", 403, "GPTBot"},
			{"gptbot", "/x", 403, "robots.txt"},
		},
		"the wildcard group": {
			{bingbot, "/private/", 403, "bingbot"},
			{bingbot, "/private/x", 403, "line 2"},
			{bingbot, "/private", 200, "page"},
			{bingbot, "/", 200, "page /"},
			{fooBot, "/private/x", 403, "FooBarBot"},
			{fooBot, "/", 200, "page"},
			{"Scrapy/2.11.0 (+https://scrapy.org)", "/private/x", 403, "Scrapy"},
		},
		"nobody in particular": {
			{firefox, "/private/x", 200, "page"},
			{chrome, "/private/x", 200, "page"},
			{"", "/private/x", 200, "page"},
			{"-", "/private/x", 200, "page"},
			{"\xff\xfe", "/private/x", 200, "page"},
			{"MyApp/2.1", "/private/x", 200, "page"},
		},
		"fallback to the group of another token": {
			{googlebotImage, "/private/x", 403, "Googlebot-Image"},
			{googlebotImage, "/private/press/x", 200, "page"},
			{googlebotImage, "/", 200, "page"},
			{googlebot, "/private/press/x", 200, "page"},
			{googlebot, "/private/x", 403, "Googlebot"},
		},
		"not judged by the wildcard group": {
			{adsBot, "/private/x", 200, "page"},
			{adsBot, "/noads/x", 403, "AdsBot-Google"},
			{slack, "/private/x", 200, "page"},
			{facebook, "/private/x", 200, "page"},
			{feedly, "/private/x", 200, "page"},
			{uptimeRobot, "/private/x", 200, "page"},
			{chatGPTUser, "/private/x", 200, "page"},
			{curl, "/private/x", 200, "page"},
			{headless, "/private/x", 200, "page"},
			{"Wget/1.21", "/notools/x", 200, "page"},
		},
		"judged where named": {
			{facebook, "/named/x", 403, "facebookexternalhit"},
			{feedly, "/named/x", 403, "Feedly"},
			{uptimeRobot, "/named/x", 403, "UptimeRobot"},
			{chatGPTUser, "/named/x", 403, "ChatGPT-User"},
			{slack, "/named/x", 200, "page"},
			{curl, "/notools/x", 403, "curl"},
			{headless, "/notools/x", 403, "HeadlessChrome"},
		},
		"names that only this robots.txt knows": {
			{"acmescraper/1.0", "/x", 403, "acmescraper"},
			{"AcmeScraper", "/x", 403, "acmescraper"},
			{"zorkly/1.0", "/x", 403, "zorkly"},
			{"Mozilla/5.0 (compatible; zorkly/1.0)", "/x", 403, "zorkly"},
			{chrome + " xacmescraperx", "/x", 200, "page"},
			{chrome + " acmescrapers", "/x", 200, "page"},
			{"Mozilla/5.0 (Windows NT 10.0; zorklyish) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "/x", 200, "page"},
			{"Mozilla/5.0 (Linux; Android 13; zorkly X1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "/x", 200, "page"},
		},
		"robots.txt itself": {
			{gptBot, "/robots.txt", 200, "User-agent: GPTBot"},
			{gptBot, "/robots.txt?x=y", 200, "User-agent: GPTBot"},
			{"acmescraper/1.0", "/robots.txt", 200, "User-agent"},
			{gptBot, "/robots.txt.bak", 403, ""},
			{gptBot, "/Robots.txt", 403, ""},
		},
		"the ACME challenge": {
			{gptBot, "/.well-known/acme-challenge/token", 200, "page"},
			{gptBot, "/.well-known/acme-challenge/", 403, ""},
			{gptBot, "/.well-known/acme-challenge/a/b", 403, ""},
			{gptBot, "/.well-known/security.txt", 403, ""},
		},
	} {
		t.Run(name, func(t *testing.T) { visits(t, s, all) })
	}
}

func TestEnforceAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, ruled, "$MODE", "enforce")
	s.warm("/")
	a := get(t, s.url("/private/x?a=b"), googlebot)
	if a.status != http.StatusForbidden {
		t.Fatalf("got status %d", a.status)
	}
	for _, piece := range []string{
		"The robots.txt of this site does not allow Googlebot to fetch this URL.",
		"http://a.test:" + s.port + "/robots.txt",
		"User-agent: Googlebot (line 4)",
		"Disallow: /private/ (line 5)",
		"RFC 9309",
	} {
		if !strings.Contains(a.body, piece) {
			t.Errorf("the body lacks %q:\n%s", piece, a.body)
		}
	}
	for name, want := range map[string]string{
		"Cache-Control":          "no-store",
		"Vary":                   "User-Agent",
		"Content-Type":           "text/plain; charset=utf-8",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}

	head := get(t, s.url("/private/x"), googlebot, method(http.MethodHead))
	if head.status != http.StatusForbidden || head.body != "" || head.header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: got %d, %d bytes, Content-Length %q", head.status, len(head.body), head.header.Get("Content-Length"))
	}
	for _, name := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		if got := get(t, s.url("/private/x"), googlebot, method(name)); got.status != http.StatusForbidden {
			t.Errorf("%s: got %d", name, got.status)
		}
		if got := get(t, s.url("/"), googlebot, method(name)); got.status != http.StatusOK {
			t.Errorf("%s of an allowed page: got %d", name, got.status)
		}
	}
	if got := get(t, s.url("/page"), googlebot); got.header.Get("Cache-Control") != "" || got.header.Get("Vary") != "" {
		t.Errorf("an allowed answer was changed: %v", got.header)
	}
	// What a client sends must not become lines or markup of the answer.
	evil := get(t, s.url("/x"), "zorkly/1.0\t<script>alert(1)</script>")
	if evil.status != http.StatusForbidden || strings.Contains(evil.body, "<script") {
		t.Errorf("got %d %q", evil.status, evil.body)
	}
}

// options is a site whose guard has options.
const options = `http://a.test:$PORT {
	robots_guard enforce {
		$OPTIONS
	}
	handle /robots.txt {
		respond <<ROBOTS
			User-agent: *
			Disallow: /private/

			User-agent: GPTBot
			User-agent: Feedly
			Disallow: /

			ROBOTS
	}
	handle {
		respond "page {http.robots_guard.verdict} {http.robots_guard.action}"
	}
}
`

func TestEnforceOptions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		options string
		visits  []visit
	}{
		"exempt a token": {"exempt gptbot", []visit{
			{gptBot, "/private/x", 200, "page exempt none"},
			{bingbot, "/private/x", 403, ""},
		}},
		"exempt a class": {"exempt search feed", []visit{
			{bingbot, "/private/x", 200, "page exempt none"},
			{feedly, "/", 200, "page exempt none"},
			{gptBot, "/", 403, ""},
		}},
		"only_log a class and a token": {"only_log ai_training Bingbot", []visit{
			{gptBot, "/", 200, "page disallowed logged"},
			{bingbot, "/private/x", 200, "page disallowed logged"},
			{googlebot, "/private/x", 403, ""},
		}},
		"wildcard for a library": {"wildcard library search", []visit{
			{curl, "/private/x", 403, "curl"},
			{bingbot, "/private/x", 403, "bingbot"},
			{fooBot, "/private/x", 200, "page exempt none"},
			{gptBot, "/", 403, ""},
			{firefox, "/private/x", 200, "page"},
		}},
		"status": {"status 451", []visit{
			{bingbot, "/private/x", 451, "bingbot"},
			{bingbot, "/", 200, "page allowed none"},
		}},
		"slashes merged by default": {"", []visit{
			{bingbot, "//private/x", 403, ""},
		}},
		"merge_slashes off": {"merge_slashes off", []visit{
			{bingbot, "//private/x", 200, "page allowed none"},
			{bingbot, "/private/x", 403, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, options, "$OPTIONS", tc.options)
			s.warm("/")
			visits(t, s, tc.visits)
		})
	}
}
