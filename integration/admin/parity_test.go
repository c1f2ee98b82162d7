package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// parityAnswer is the part of the report that the test checks.
type parityAnswer struct {
	Findings []struct {
		What, Site, Token, Identity, Status string
		Of, Bad                             int
	}
	Crawlers []struct {
		Token, Class       string
		Answers, Bytes     int
		Allowed, Forbidden map[string]int
		Robots             map[string]int `json:"robots_txt"`
	}
	Referrals []struct {
		Operator        string
		Fetches, Visits int
	}
}

// TestParity audits the responses of a site that allows a search engine everything,
// fails a third of its requests, and is visited from an assistant. The report survives
// a restart.
func TestParity(t *testing.T) {
	home := t.TempDir()
	run := func() *reported {
		port, admin := harness.FreePort(t), harness.FreePort(t)
		r := &reported{t: t, admin: "127.0.0.1:" + admin}
		r.Server = harness.Run(t, harness.Caddyfile(t, strings.NewReplacer("$ADMIN", admin, "$PORT", port).Replace(`{
			admin 127.0.0.1:$ADMIN
			persist_config off
		}
		(site) {
			robots_guard {
				fetch_timeout 20s
				fetch_wait 20s
			}
			respond /robots.txt "User-agent: *
Disallow: /private/
"
			error /broken "broken" 503
			redir /old /new
			respond /private/* "private"
			respond "12345"
		}
		http://example.com:$PORT {
			import site
		}
		http://:$PORT {
			import site
		}`)), []string{"XDG_DATA_HOME=" + home}, "127.0.0.1:"+port, r.admin)
		r.Port = port
		return r
	}
	r := run()
	get := func(n int, path, userAgent string) {
		for range n {
			harness.Get(t, r.URL("http://example.com"+path), userAgent)
		}
	}
	get(20, "/page", harness.Bingbot)
	get(10, "/broken", harness.Bingbot)
	get(2, "/robots.txt", harness.Bingbot)
	get(4, "/private/x", harness.GPTBot)
	get(1, "/old", harness.GPTBot)
	get(5, "/page", harness.Firefox)
	for i := range 300 { // all hosts that clients invent count as one
		harness.Get(t, r.URL("/page"), harness.GPTBot, harness.Host(fmt.Sprintf("h%d.test", i)))
	}
	for _, referer := range []string{"https://chatgpt.com/", "https://chatgpt.com/c/1", "https://chatgpt.com.evil.test/", "https://example.com/"} {
		harness.Get(t, r.URL("http://example.com/page"), harness.Firefox, harness.Header("Referer", referer), harness.Header("Sec-Fetch-Dest", "document"))
	}

	check := func(when string) {
		t.Helper()
		var p parityAnswer
		r.ask("/robots_guard/parity?site=example.com", &p)
		if len(p.Findings) != 1 || p.Findings[0].What != "pages_fail" || p.Findings[0].Token != "bingbot" || p.Findings[0].Of != 30 || p.Findings[0].Bad != 10 {
			t.Errorf("%s: found %+v", when, p.Findings)
		}
		if len(p.Crawlers) != 2 {
			t.Fatalf("%s: %+v", when, p.Crawlers)
		}
		bing, gpt := p.Crawlers[0], p.Crawlers[1]
		if bing.Allowed["2xx"] != 20 || bing.Allowed["5xx"] != 10 || bing.Robots["2xx"] != 2 || bing.Bytes != 20*5+2*len("User-agent: *\nDisallow: /private/\n") {
			t.Errorf("%s: %+v", when, bing)
		}
		if gpt.Forbidden["2xx"] != 4 || gpt.Allowed["3xx"] != 1 || gpt.Answers != 5 {
			t.Errorf("%s: %+v", when, gpt)
		}
		if len(p.Referrals) != 1 || p.Referrals[0].Operator != "OpenAI" || p.Referrals[0].Fetches != 5 || p.Referrals[0].Visits != 2 {
			t.Errorf("%s: %+v", when, p.Referrals)
		}
		r.ask("/robots_guard/parity?site=_other", &p)
		if len(p.Crawlers) != 1 || p.Crawlers[0].Answers != 300 {
			t.Errorf("%s: unknown hosts: %+v", when, p.Crawlers)
		}
	}
	isCounted := func() bool {
		answers, visits := 0, 0
		for _, site := range []string{"example.com", "_other"} {
			var p parityAnswer
			r.ask("/robots_guard/parity?site="+site, &p)
			for _, c := range p.Crawlers {
				answers += c.Answers
			}
			for _, referral := range p.Referrals {
				visits += referral.Visits
			}
		}
		return answers == 32+5+300 && visits == 2
	}
	harness.Eventually(t, "all responses are counted", isCounted) // the client may receive the end of a response before the guard counts it
	check("counted")
	r.Stop()
	r = run()
	harness.Eventually(t, "the stored counts are loaded", isCounted) // the server may still be loading them
	check("after a restart")
}
