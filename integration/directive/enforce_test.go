package directive

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestEnforce(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, harness.RuledSite, "$MODE", "enforce")
	s.Warm("/")
	for name, all := range map[string][]harness.Visit{
		"named and disallowed": {
			{harness.GPTBot, "/", 403, "GPTBot"},
			{harness.GPTBot, "/any/page?x=y", 403, "GPTBot"},
			{"GPTBot/1.0", "/x", 403, "GPTBot"},
			{"gptbot", "/x", 403, "robots.txt"},
		},
		"the wildcard group": {
			{harness.Bingbot, "/private/", 403, "bingbot"},
			{harness.Bingbot, "/private/x", 403, "line 2"},
			{harness.Bingbot, "/private", 200, "page"},
			{harness.Bingbot, "/", 200, "page /"},
			{harness.FooBot, "/private/x", 403, "FooBarBot"},
			{harness.FooBot, "/", 200, "page"},
			{"Scrapy/2.11.0 (+https://scrapy.org)", "/private/x", 403, "Scrapy"},
		},
		"unknown crawlers": {
			{harness.Firefox, "/private/x", 200, "page"},
			{harness.Chrome, "/private/x", 200, "page"},
			{"", "/private/x", 200, "page"},
			{"-", "/private/x", 200, "page"},
			{"\xff\xfe", "/private/x", 200, "page"},
			{"MyApp/2.1", "/private/x", 200, "page"},
		},
		"fallback to the group of another token": {
			{harness.GooglebotImage, "/private/x", 403, "Googlebot-Image"},
			{harness.GooglebotImage, "/private/press/x", 200, "page"},
			{harness.GooglebotImage, "/", 200, "page"},
			{harness.Googlebot, "/private/press/x", 200, "page"},
			{harness.Googlebot, "/private/x", 403, "Googlebot"},
		},
		"not judged by the wildcard group": {
			{harness.AdsBot, "/private/x", 200, "page"},
			{harness.AdsBot, "/noads/x", 403, "AdsBot-Google"},
			{harness.Slack, "/private/x", 200, "page"},
			{harness.Facebook, "/private/x", 200, "page"},
			{harness.Feedly, "/private/x", 200, "page"},
			{harness.UptimeRobot, "/private/x", 200, "page"},
			{harness.ChatGPTUser, "/private/x", 200, "page"},
			{harness.Curl, "/private/x", 200, "page"},
			{harness.Headless, "/private/x", 200, "page"},
			{"Wget/1.21", "/notools/x", 200, "page"},
		},
		"judged if named": {
			{harness.Facebook, "/named/x", 403, "facebookexternalhit"},
			{harness.Feedly, "/named/x", 403, "Feedly"},
			{harness.UptimeRobot, "/named/x", 403, "UptimeRobot"},
			{harness.ChatGPTUser, "/named/x", 403, "ChatGPT-User"},
			{harness.Slack, "/named/x", 200, "page"},
			{harness.Curl, "/notools/x", 403, "curl"},
			{harness.Headless, "/notools/x", 403, "HeadlessChrome"},
		},
		"names that only this robots.txt contains": {
			{"acmescraper/1.0", "/x", 403, "acmescraper"},
			{"AcmeScraper", "/x", 403, "acmescraper"},
			{"zorkly/1.0", "/x", 403, "zorkly"},
			{"Mozilla/5.0 (compatible; zorkly/1.0)", "/x", 403, "zorkly"},
			{harness.Chrome + " xacmescraperx", "/x", 200, "page"},
			{harness.Chrome + " acmescrapers", "/x", 200, "page"},
			{"Mozilla/5.0 (Windows NT 10.0; zorklyish) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "/x", 200, "page"},
			{"Mozilla/5.0 (Linux; Android 13; zorkly X1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "/x", 200, "page"},
		},
		"robots.txt itself": {
			{harness.GPTBot, "/robots.txt", 200, "User-agent: GPTBot"},
			{harness.GPTBot, "/robots.txt?x=y", 200, "User-agent: GPTBot"},
			{"acmescraper/1.0", "/robots.txt", 200, "User-agent"},
			{harness.GPTBot, "/robots.txt.bak", 403, ""},
			{harness.GPTBot, "/Robots.txt", 403, ""},
		},
		"the ACME challenge": {
			{harness.GPTBot, "/.well-known/acme-challenge/token", 200, "page"},
			{harness.GPTBot, "/.well-known/acme-challenge/", 403, ""},
			{harness.GPTBot, "/.well-known/acme-challenge/a/b", 403, ""},
			{harness.GPTBot, "/.well-known/security.txt", 403, ""},
		},
	} {
		t.Run(name, func(t *testing.T) { harness.Visits(t, s, all) })
	}
}

func TestEnforceAnswer(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, harness.RuledSite, "$MODE", "enforce")
	s.Warm("/")
	a := harness.Get(t, s.URL("/private/x?a=b"), harness.Googlebot)
	if a.Status != http.StatusForbidden {
		t.Fatalf("got status %d", a.Status)
	}
	for _, piece := range []string{
		"The robots.txt of this site does not allow Googlebot to fetch this URL.",
		"http://a.test:" + s.Port + "/robots.txt",
		"User-agent: Googlebot (line 4)",
		"Disallow: /private/ (line 5)",
		"RFC 9309",
	} {
		if !strings.Contains(a.Body, piece) {
			t.Errorf("the body lacks %q:\n%s", piece, a.Body)
		}
	}
	for name, want := range map[string]string{
		"Cache-Control":          "no-store",
		"Vary":                   "User-Agent",
		"Content-Type":           "text/plain; charset=utf-8",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}

	head := harness.Get(t, s.URL("/private/x"), harness.Googlebot, harness.Method(http.MethodHead))
	if head.Status != http.StatusForbidden || head.Body != "" || head.Header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: got %d, %d bytes, Content-Length %q", head.Status, len(head.Body), head.Header.Get("Content-Length"))
	}
	for _, name := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		if got := harness.Get(t, s.URL("/private/x"), harness.Googlebot, harness.Method(name)); got.Status != http.StatusForbidden {
			t.Errorf("%s: got %d", name, got.Status)
		}
		if got := harness.Get(t, s.URL("/"), harness.Googlebot, harness.Method(name)); got.Status != http.StatusOK {
			t.Errorf("%s of an allowed page: got %d", name, got.Status)
		}
	}
	if got := harness.Get(t, s.URL("/page"), harness.Googlebot); got.Header.Get("Cache-Control") != "" || got.Header.Get("Vary") != "" {
		t.Errorf("the response to an allowed request has extra fields: %v", got.Header)
	}
	// Content from a client must not become additional lines or markup of the response.
	evil := harness.Get(t, s.URL("/x"), "zorkly/1.0\t<script>alert(1)</script>")
	if evil.Status != http.StatusForbidden || strings.Contains(evil.Body, "<script") {
		t.Errorf("got %d %q", evil.Status, evil.Body)
	}
}
