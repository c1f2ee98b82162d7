package documents

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// newChallenge runs a substitute for a challenge such as Anubis. Its check accepts a
// request with a cookie, and redirects other requests to a page that sets the cookie.
func newChallenge(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/check", func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("challenge"); err == nil && cookie.Value == "solved" {
			return
		}
		w.Header().Set("Location", "/challenge?next="+r.Header.Get("X-Forwarded-Uri"))
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/challenge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "challenge", Value: "solved", Path: "/"})
		fmt.Fprint(w, "<!doctype html><title>Making sure you're not a bot!</title>")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestExamplePaths runs examples/paths, in which only disallowed pages have a cost for
// visitors.
func TestExamplePaths(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/paths/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	_, challenge, _ := net.SplitHostPort(newChallenge(t).Listener.Addr().String())
	caddyfile, free, addresses := strings.ReplaceAll(string(text), "localhost:8090", "127.0.0.1:"+challenge), make(map[string]string), []string{}
	for _, port := range []string{"8080", "8081", "8082", "8083"} {
		free[port] = harness.FreePort(t)
		caddyfile = strings.ReplaceAll(caddyfile, "localhost:"+port, "localhost:"+free[port])
		addresses = append(addresses, "127.0.0.1:"+free[port])
	}
	s := harness.Start(t, caddyfile, addresses...)
	at := func(port, path string) string { return "http://localhost:" + free[port] + path }
	for port := range free {
		harness.Eventually(t, "GPTBot is blocked", func() bool { return harness.Get(t, at(port, "/page"), harness.GPTBot).Status == 403 })
	}
	cookie := harness.Header("Cookie", "challenge=solved")
	password := func(r *http.Request) { r.SetBasicAuth("reader", "costly") }
	session := harness.Header("Cookie", "session=1")
	for _, tc := range []struct {
		port, path, userAgent string
		status                int
		body                  string
		change                []func(*http.Request)
	}{
		// A challenge.
		{"8080", "/", harness.Firefox, 200, "Page /.", nil},
		{"8080", "/search?q=x", harness.Firefox, 302, "", nil},
		{"8080", "/%73earch", harness.Chrome, 302, "", nil},
		{"8080", "/search?q=x", "", 302, "", nil},
		{"8080", "/search?q=x", harness.Firefox, 200, "Page /search.", []func(*http.Request){cookie}},
		{"8080", "/challenge?next=/search", harness.Firefox, 200, "Making sure", nil},
		{"8080", "/search?q=x", harness.Bingbot, 403, "Disallow: /search", nil},
		{"8080", "/page", harness.Bingbot, 200, "Page /page.", nil},
		{"8080", "/robots.txt", harness.GPTBot, 200, "User-agent: *", nil},
		{"8080", "/robots.txt", harness.Firefox, 200, "User-agent: *", nil},
		{"8080", "/.well-known/security.txt", harness.Firefox, 200, "Page /.well-known/security.txt.", nil},
		// A password.
		{"8081", "/", harness.Firefox, 200, "Page /.", nil},
		{"8081", "/search", harness.Firefox, 401, "", nil},
		{"8081", "/search", harness.Firefox, 200, "Page /search.", []func(*http.Request){password}},
		{"8081", "/search", harness.Bingbot, 403, "Disallow: /search", nil},
		// A cheaper page.
		{"8082", "/search", harness.Firefox, 200, "The results of the last hour.", nil},
		{"8082", "/search", harness.Firefox, 200, "Page /search.", []func(*http.Request){session}},
		{"8082", "/page", harness.Firefox, 200, "Page /page.", nil},
		// The application.
		{"8083", "/search", harness.Firefox, 200, "The application is told: disallowed.", nil},
		{"8083", "/searching", harness.Chrome, 200, "The application is told: disallowed.", []func(*http.Request){harness.Header("X-Robots-Path", "allowed")}},
	} {
		a := harness.Get(t, at(tc.port, tc.path), tc.userAgent, tc.change...)
		if a.Status != tc.status || !strings.Contains(a.Body, tc.body) {
			t.Errorf("%s at %s as %q: got %d %q, want %d %q", tc.path, tc.port, tc.userAgent, a.Status, a.Body, tc.status, tc.body)
		}
		if tc.status == 302 && !strings.HasPrefix(a.Header.Get("Location"), "/challenge?next=/") {
			t.Errorf("redirected to %q", a.Header.Get("Location"))
		}
	}
	for _, line := range s.Lines("request disallowed by robots.txt") {
		if agent := fmt.Sprint(line["request"]); strings.Contains(agent, "Firefox") || strings.Contains(agent, "Chrome") {
			t.Errorf("a browser is in the log: %v", line)
		}
	}
}
