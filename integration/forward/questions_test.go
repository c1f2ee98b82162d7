package forward

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// trusting is the global option of a server that trusts local proxies.
const trusting = `servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}`

// robots is the robots.txt of the application.
const robots = "User-agent: *\nDisallow: /private/\nDisallow: /grün/\nAllow: /public/\n\nUser-agent: AhrefsBot\nCrawl-delay: 30\n"

// decide runs a decision point for an application, with additional options.
func decide(t *testing.T, app *harness.Origin, options string) *harness.Server {
	t.Helper()
	return harness.Serve(t, `http://:$PORT {
		robots_guard enforce {
			decide forwarded a.test *.b.test
			source http://$APP/robots.txt host {host}
			allow_private on
			fetch_wait 20s
			fetch_timeout 20s
			`+options+`
		}
	}`, "$GLOBAL", trusting, "$APP", app.Address())
}

// ask sends a request from a local address to a decision point, with header fields
// "Name: value".
func ask(t *testing.T, s *harness.Server, userAgent string, fields ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+s.Port+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", userAgent)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		req.Header.Add(name, value)
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// about returns the header fields that describe a request for a URL.
func about(host, target string) []string {
	return []string{"X-Forwarded-Method: GET", "X-Forwarded-Proto: https", "X-Forwarded-Host: " + host, "X-Forwarded-Uri: " + target, "X-Forwarded-For: 192.0.2.7"}
}

// TestDecisions sends all kinds of requests to a decision point.
func TestDecisions(t *testing.T) {
	t.Parallel()
	app := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host == "other.test" && r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /other/\n")
		}
		return r.Host == "other.test"
	})
	s := decide(t, app, "rate enforce")
	for _, tc := range []struct {
		userAgent, host, target string
		status                  int
		verdict                 string
	}{
		{harness.Bingbot, "a.test", "/private/x", 403, "disallowed"},
		{harness.Bingbot, "a.test", "/public/x", 200, "allowed"},
		{harness.Bingbot, "a.test", "/robots.txt", 200, "allowed"},
		{harness.Bingbot, "www.b.test", "/private/", 403, "disallowed"},
		{harness.Bingbot, "other.test", "/private/x", 200, "allowed"},
		{harness.Bingbot, "other.test", "/other/x", 403, "disallowed"},
		{harness.Firefox, "a.test", "/private/x", 200, ""},
		{harness.Curl, "a.test", "/private/x", 200, "exempt"},
		{"AhrefsBot/7.0", "a.test", "/private/x", 200, "allowed"},
	} {
		got, body := ask(t, s, tc.userAgent, about(tc.host, tc.target)...)
		if got.StatusCode != tc.status || got.Header.Get("X-Robots-Guard-Verdict") != tc.verdict || (body == "") != (tc.status == 200) {
			t.Errorf("%s for %s%s: %d %v %q", tc.userAgent, tc.host, tc.target, got.StatusCode, got.Header, body)
		}
		if tc.status == 403 && !strings.Contains(body, "https://"+tc.host+"/robots.txt") {
			t.Errorf("the response does not name the robots.txt of %s: %q", tc.host, body)
		}
	}
	slowed := false
	for range 20 {
		got, _ := ask(t, s, "AhrefsBot/7.0", about("a.test", "/page.html")...)
		slowed = slowed || got.StatusCode == 429 && got.Header.Get("Retry-After") != "" && got.Header.Get("X-Robots-Guard-Action") == "slowed"
	}
	if !slowed {
		t.Error("a crawler that exceeds the rate gets no 429")
	}
	all := s.Metrics()
	if n := all.Sum(harness.RequestsMetric, `host="a.test"`, `crawler="bingbot"`); n != 3 {
		t.Errorf("counted %v requests of bingbot for a.test", n)
	}
	if all.Sum(harness.RequestsMetric, `host="_other"`) == 0 || all.Sum(harness.RequestsMetric, `host="*.b.test"`) != 1 {
		t.Errorf("hosts are counted as %v", all.Of(harness.RequestsMetric))
	}
	logged, _ := s.Await("request disallowed by robots.txt", 1)[0]["request"].(map[string]any)
	if logged["host"] != "a.test" || logged["uri"] != "/private/x" || logged["client_ip"] != "192.0.2.7" {
		t.Errorf("logged %v", logged)
	}
	for _, r := range app.Seen() {
		if r.Header.Get("X-Forwarded-For") != "" || r.URL.Path != "/robots.txt" {
			t.Errorf("the application got a request for %s with %v", r.URL, r.Header)
		}
	}
}

// TestUntrustedSender sends requests to a decision point that does not trust their sender.
func TestUntrustedSender(t *testing.T) {
	t.Parallel()
	app := harness.NewOrigin(t, robots, nil)
	s := harness.Serve(t, `http://:$PORT {
		robots_guard enforce {
			decide forwarded a.test
			source http://$APP/robots.txt
			allow_private on
		}
	}`, "$GLOBAL", strings.Replace(trusting, "127.0.0.1/32", "192.0.2.0/24", 1), "$APP", app.Address())
	got, body := ask(t, s, harness.Bingbot, about("a.test", "/private/x")...)
	if got.StatusCode != 500 || got.Header.Get("X-Robots-Guard-Undecided") != "untrusted" || strings.Contains(body, "a.test") || got.Header.Get("X-Robots-Guard-Verdict") != "" {
		t.Errorf("got %d %v %q", got.StatusCode, got.Header, body)
	}
	if n := s.Metrics().Sum(harness.RequestsMetric) + float64(len(app.Seen())); n != 0 {
		t.Errorf("evaluated requests and fetches of robots.txt: %v", n)
	}
	s.Await("a client that is not a trusted proxy requests verdicts; add the proxy to trusted_proxies or block the client", 1)
}
