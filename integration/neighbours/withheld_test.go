package neighbours

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// TestOutsiders checks sites that respond differently to outsiders or to crawlers than
// to the owner's own network. The guard uses the robots.txt for outsiders. It reports
// which crawlers cannot fetch the file, by the self-test at start and by the responses
// to crawlers.
func TestOutsiders(t *testing.T) {
	t.Parallel()
	const page = "<!doctype html><title>One moment</title>"
	challenge := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.UserAgent(), "GPTBot") {
			return false
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		code := map[string]int{"c202": 202, "c403": 403, "c503": 503}[strings.Split(r.Host, ".")[0]]
		if code != 0 {
			w.WriteHeader(code)
		}
		_, _ = w.Write([]byte(page))
		return true
	}).AnswerSelfTest()
	login := newAuth(t, http.StatusFound)
	list := harness.Files(t, map[string]string{"gptbot.json": `{"prefixes": [{"ipv4Prefix": "203.0.113.0/24"}]}`}) + "/gptbot.json"
	adminPort := harness.FreePort(t)
	s := harness.Serve(t, `http://split.test:$PORT {
		robots_guard enforce
		@lan client_ip private_ranges
		handle @lan {
			respond /robots.txt "User-agent: *
Disallow: /"
		}
		handle {
			respond /robots.txt "User-agent: *
Disallow: /private/"
		}
		respond "page"
	}
	http://login.test:$PORT {
		robots_guard enforce
		@bots header User-Agent *GPTBot*
		forward_auth @bots $LOGIN {
			uri /verify
		}
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}
	http://loop.test:$PORT {
		robots_guard enforce
		@bots {
			header User-Agent *GPTBot*
			path /robots.txt
		}
		redir @bots /robots.txt?challenge=1
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}
	http://abort.test:$PORT {
		robots_guard enforce
		@airobots header User-Agent *GPTBot*
		handle @airobots {
			abort
		}
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}
	http://c200.test:$PORT, http://c202.test:$PORT, http://c403.test:$PORT, http://c503.test:$PORT {
		robots_guard enforce
		@bots header User-Agent *GPTBot*
		handle @bots {
			reverse_proxy $CHALLENGE
		}
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}
	http://own.test:$PORT {
		robots_guard enforce
		handle /robots.txt {
			reverse_proxy $WALL
		}
		respond "page"
	}
	http://bare.test:$PORT {
		robots_guard enforce
		respond /robots.txt 404
		respond "page"
	}
	http://firewall.test:$PORT {
		robots_guard enforce
		respond /robots.txt 403
		respond "page"
	}
	http://app.test:$PORT {
		robots_guard
		header Content-Type text/html
		respond "<!doctype html><title>Shop</title>"
	}
	http://*.tenants.test:$PORT {
		robots_guard
		respond 404
	}`, "$LOGIN", login.Address(), "$CHALLENGE", challenge.Address(), "$WALL", harness.NewOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(403)
		_, _ = w.Write([]byte(page))
		return true
	}).AnswerSelfTest().Address(), "admin off", "admin 127.0.0.1:"+adminPort, "$GLOBAL", `servers {
		trusted_proxies static 127.0.0.1/32
	}
	robots_guard {
		verify {
			ranges configured
			rdns off
		}
		crawler GPTBot {
			ranges file `+list+`
		}
	}`)
	get := func(host, path, agent, ip string) (harness.Answer, error) {
		return harness.Try(harness.NewClient(false), s.URL("http://"+host+path), agent, harness.Header("X-Forwarded-For", ip))
	}
	const verified, spoofed, visitor = "203.0.113.9", "198.51.100.9", "198.51.100.4"

	for _, host := range []string{"split.test", "login.test", "abort.test", "c403.test"} {
		harness.Eventually(t, host+" is judged by the file of outsiders", func() bool {
			a, _ := get(host, "/private/x", harness.Bingbot, visitor)
			return a.Status == 403
		})
		if a, _ := get(host, "/public", harness.Bingbot, visitor); a.Status != 200 {
			t.Errorf("%s: a public page gets %d", host, a.Status)
		}
		if a, _ := get(host, "/private/x", harness.Firefox, visitor); a.Status != 200 {
			t.Errorf("%s: a browser gets %d", host, a.Status)
		}
	}

	policies := func() map[string]string {
		var listed admin.PolicyList
		answer := harness.Get(t, "http://127.0.0.1:"+adminPort+admin.PoliciesPath, "test")
		if err := json.Unmarshal([]byte(answer.Body), &listed); err != nil {
			t.Fatalf("%v: %s", err, answer.Body)
		}
		says := make(map[string]string)
		for _, p := range listed.Policies {
			host, _, _ := strings.Cut(strings.TrimPrefix(p.Authority, "http://"), ":")
			says[host] = strings.Join(p.WithheldFrom, "; ")
		}
		return says
	}
	sites := map[string]string{
		"login.test": "GPTBot is redirected to https://login.test/?to=a.test instead of robots.txt since ",
		"loop.test":  "GPTBot is redirected to /robots.txt?challenge=1 instead of robots.txt since ",
		"abort.test": "GPTBot gets no response for robots.txt since ",
		"c200.test":  "GPTBot gets a web page (status 200) instead of robots.txt since ",
		"c202.test":  "GPTBot gets a web page (status 202) instead of robots.txt since ",
		"c403.test":  "GPTBot gets a web page (status 403) instead of robots.txt since ",
		"c503.test":  "GPTBot gets a web page (status 503) instead of robots.txt since ",
		"own.test":   "an unverified client named bingbot gets a web page (status 403) instead of robots.txt since ",
	}
	for host := range sites {
		_, _ = get(host, "/p", harness.Bingbot, visitor)
		for range 3 {
			_, _ = get(host, "/robots.txt", harness.GPTBot, spoofed)
		}
	}
	harness.Eventually(t, "all sites are known", func() bool { return len(policies()) > len(sites) })
	checkSelfTest(t, s)
	for host, says := range policies() {
		want := strings.Replace(sites[host], "GPTBot", "a client named GPTBot", 1)
		if host == "own.test" {
			want = "" // a browser gets no file either
		}
		if !strings.Contains(says, want) || (want == "") != (says == "") {
			t.Errorf("%s: before a crawler comes, policies has %q, want %q", host, says, want)
		}
	}
	for host := range sites {
		_, _ = get(host, "/robots.txt", harness.GPTBot, verified)
		_, _ = get(host, "/robots.txt", harness.Bingbot, visitor)
	}
	for host, says := range policies() {
		// The finding is about the verified crawler now, and no longer about the self-test.
		if want := sites[host]; !strings.Contains(says, want) || (want == "") != (says == "") || strings.Contains(says, "a client named") {
			t.Errorf("%s: policies has %q, want %q", host, says, want)
		}
	}
	var report report.ResponseAudit
	if err := json.Unmarshal([]byte(harness.Get(t, "http://127.0.0.1:"+adminPort+"/robots_guard/parity", "test").Body), &report); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, f := range report.Findings {
		found[f.Site] = f.Text
	}
	for host, want := range sites {
		if !strings.Contains(found[host], want) {
			t.Errorf("%s: the report has %q, want %q", host, found[host], want)
		}
	}
}

// checkSelfTest checks the log lines of the self-test at start.
func checkSelfTest(t *testing.T, s *harness.Server) {
	t.Helper()
	const (
		fetched = "info robots.txt was fetched"
		page    = "warn a web page is sent instead of robots.txt"
	)
	want := map[string]string{
		"split.test browser and crawler":    fetched + " 200 1 rules",
		"login.test browser":                fetched + " 200 1 rules",
		"login.test crawler":                "warn robots.txt redirects to another page 302",
		"loop.test browser":                 fetched + " 200 1 rules",
		"loop.test crawler":                 "warn the redirects of robots.txt lead to no file 302",
		"abort.test browser":                fetched + " 200 1 rules",
		"abort.test crawler":                "warn the connection is closed without a response to the request for robots.txt",
		"c200.test browser":                 fetched + " 200 1 rules",
		"c200.test crawler":                 page + " 200",
		"c202.test browser":                 fetched + " 200 1 rules",
		"c202.test crawler":                 page + " 202",
		"c403.test browser":                 fetched + " 200 1 rules",
		"c403.test crawler":                 page + " 403",
		"c503.test browser":                 fetched + " 200 1 rules",
		"c503.test crawler":                 page + " 503",
		"own.test browser and crawler":      page + " 403",
		"bare.test browser and crawler":     "warn robots.txt is missing 404",
		"firewall.test browser and crawler": "warn robots.txt is refused 403",
		"app.test browser and crawler":      page + " 200",
		"robots-guard-self-test.tenants.test browser and crawler": "info robots.txt is missing 404",
	}
	got := make(map[string]string)
	harness.Eventually(t, "the self-test has ended", func() bool {
		for line := range strings.Lines(s.Logs.String()) {
			var fields struct {
				Level, Msg, Site, Client, Logger, Advice string
				Status                                   int
				Rules                                    *int
			}
			if json.Unmarshal([]byte(line), &fields) != nil || !strings.HasPrefix(fields.Msg, "self-test: ") {
				continue
			}
			says := fields.Level + " " + strings.TrimPrefix(fields.Msg, "self-test: ")
			if fields.Status != 0 {
				says += fmt.Sprintf(" %d", fields.Status)
			}
			if fields.Rules != nil {
				says += fmt.Sprintf(" %d rules", *fields.Rules)
			}
			host, _, _ := strings.Cut(strings.TrimPrefix(fields.Site, "http://"), ":")
			got[host+" "+fields.Client] = says
			if fields.Logger != "robots_guard" || (fields.Advice == "") != strings.HasPrefix(says, fetched) {
				t.Fatalf("got %s", line)
			}
		}
		return len(got) == len(want)
	})
	for site, says := range want {
		if got[site] != says {
			t.Errorf("%s: the self-test logs %q, want %q", site, got[site], says)
		}
	}
	requests := s.Metrics().Sum(harness.RequestsMetric, `crawler="GPTBot"`)
	if asked := float64(3 * 6); requests > asked {
		t.Errorf("counted %v requests of GPTBot, which sent %v", requests, asked)
	}
}
