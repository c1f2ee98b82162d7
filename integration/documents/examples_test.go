package documents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// example runs a Caddyfile of the repository with free ports instead of the given ones.
// It returns the server and the new ports.
func example(t *testing.T, path string, ports ...string) (*harness.Server, map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	root := harness.Files(t, map[string]string{
		"robots.txt": "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n",
		"index.html": "home", "page.txt": "page", "private/x.txt": "secret",
	})
	caddyfile, free, addresses := string(text), make(map[string]string), []string{}
	for _, port := range ports {
		if !strings.Contains(caddyfile, ":"+port) {
			t.Fatalf("%s does not use port %s", path, port)
		}
		free[port] = harness.FreePort(t)
		caddyfile = strings.ReplaceAll(caddyfile, ":"+port, ":"+free[port])
		addresses = append(addresses, "127.0.0.1:"+free[port])
	}
	s := harness.Run(t, harness.Caddyfile(t, caddyfile), []string{"SITE_ROOT=" + root}, addresses...)
	s.Port = free[ports[0]]
	return s, free
}

// TestExamplesAreRun fails for an example without a test.
func TestExamplesAreRun(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("../../examples/*/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{"monitor": true, "enforce": true, "compose": true, "cluster": true, "deploy": true, "forward": true, "managed": true, "paths": true}
	for _, path := range found {
		name := filepath.Base(filepath.Dir(path))
		if !tested[name] {
			t.Errorf("examples/%s has no test", name)
		}
		delete(tested, name)
		if name == "deploy" {
			continue // TestDeployCaddyfile tests it, because it needs an environment
		}
		if _, stderr, code := harness.Command(t, "", "validate", "--config", path, "--adapter", "caddyfile"); code != 0 {
			t.Errorf("%s is not valid: %s", path, harness.Tail(stderr, 500))
		}
		if out, _, code := harness.Command(t, "", "fmt", "--diff", path); code != 0 || strings.Contains(out, "\n- ") || strings.Contains(out, "\n+ ") {
			t.Errorf("caddy fmt would change %s:\n%s", path, out)
		}
	}
	for name := range tested {
		t.Errorf("examples/%s is gone", name)
	}
}

func TestExampleMonitor(t *testing.T) {
	t.Parallel()
	s, _ := example(t, "examples/monitor/Caddyfile", "8080")
	local := "http://localhost:" + s.Port
	harness.Eventually(t, "a crawler is judged", func() bool {
		harness.Get(t, local+"/private/x.txt", harness.Bingbot)
		return harness.ReadMetrics(t, local+"/metrics").Sum(harness.RequestsMetric, `verdict="disallowed"`, `crawler="bingbot"`) > 0
	})
	for _, userAgent := range []string{harness.Bingbot, harness.GPTBot, harness.Firefox} {
		if a := harness.Get(t, local+"/private/x.txt", userAgent); a.Status != 200 || a.Body != "secret" {
			t.Errorf("%s got %d %q", userAgent, a.Status, a.Body)
		}
	}
	lines := s.Await("request disallowed by robots.txt", 2)
	if lines[0]["level"] != "info" || lines[0]["rule"] != "Disallow: /private/" || lines[0]["action"] != "logged" {
		t.Errorf("got %v", lines[0])
	}
	harness.Eventually(t, "the access log contains the verdict", func() bool {
		for _, line := range s.Lines("handled request") {
			if fields, ok := line["robots_guard"].(map[string]any); ok && fields["crawler"] == "GPTBot" && fields["verdict"] == "disallowed" {
				return true
			}
		}
		return false
	})
	for name := range harness.ReadMetrics(t, local+"/metrics").Of(harness.RequestsMetric) {
		if !strings.Contains(name, `host="localhost"`) {
			t.Errorf("the host of the example is not a label: %s", name)
		}
	}
}

func TestExampleEnforce(t *testing.T) {
	t.Parallel()
	s, _ := example(t, "examples/enforce/Caddyfile", "8080")
	local := "http://localhost:" + s.Port
	harness.Eventually(t, "a crawler is blocked", func() bool { return harness.Get(t, local+"/page.txt", harness.GPTBot).Status == 403 })
	const archiver = "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)"
	for _, tc := range []struct {
		userAgent, path string
		status          int
		body            string
	}{
		{harness.GPTBot, "/page.txt", 403, "rule:  Disallow: / (line 5)"},
		{harness.FooBot, "/private/x.txt", 403, "rule:  Disallow: /private/ (line 2)"},
		{harness.FooBot, "/page.txt", 200, "page"},
		{harness.Bingbot, "/private/x.txt", 200, "secret"}, // only_log search
		{archiver, "/private/x.txt", 200, "secret"},
		{harness.UptimeRobot, "/private/x.txt", 200, "secret"},
		{harness.Firefox, "/private/x.txt", 200, "secret"},
		{harness.GPTBot, "/robots.txt", 200, "User-agent"},
	} {
		if a := harness.Get(t, local+tc.path, tc.userAgent); a.Status != tc.status || !strings.Contains(a.Body, tc.body) {
			t.Errorf("%s as %q: got %d %q, want %d %q", tc.path, tc.userAgent, a.Status, a.Body, tc.status, tc.body)
		}
	}
}

func TestExampleCompose(t *testing.T) {
	t.Parallel()
	_, ports := example(t, "examples/compose/Caddyfile", "8080", "8081", "8082")
	at := func(port, path string) string { return "http://localhost:" + ports[port] + path }
	for _, port := range []string{"8080", "8081", "8082"} { // the first response waits for robots.txt
		harness.Get(t, at(port, "/"), harness.Bingbot)
		harness.Get(t, at(port, "/"), harness.Bingbot)
	}
	for _, tc := range []struct {
		port, path, userAgent string
		status                int
		body                  string
	}{
		// Custom handlers for blocked requests.
		{"8080", "/private/x", harness.GPTBot, 402, "Training on this site needs a licence"},
		{"8080", "/private/x", harness.Bingbot, 403, "Line 2 of robots.txt says: Disallow: /private/"},
		{"8080", "/x", harness.GPTBot, 200, "Hello from /x."},
		{"8080", "/private/x", harness.Firefox, 200, "Hello from /private/x."},
		// Matchers.
		{"8081", "/private/x", harness.Bingbot, 302, ""},
		{"8081", "/crawlers.html", harness.Bingbot, 200, "Hello from /crawlers.html."},
		{"8081", "/private/x", harness.Firefox, 200, "Hello from /private/x."},
		// Placeholders for the application.
		{"8082", "/echo", harness.Bingbot, 200, "verdict=disallowed crawler=bingbot"},
		{"8082", "/echo", harness.UptimeRobot, 200, "verdict=exempt crawler=UptimeRobot"},
		{"8082", "/echo", harness.Firefox, 200, "verdict= crawler="},
		{"8082", "/private/x", harness.Bingbot, 200, "Hello from /private/x."},
	} {
		var a harness.Answer
		harness.Eventually(t, tc.path+" on "+tc.port+" as "+tc.userAgent+" is answered "+tc.body, func() bool {
			a = harness.Get(t, at(tc.port, tc.path), tc.userAgent)
			return a.Status == tc.status && strings.Contains(a.Body, tc.body)
		})
		if tc.status == 302 && a.Header.Get("Location") != "/crawlers.html" {
			t.Errorf("redirected to %q", a.Header.Get("Location"))
		}
	}
	// A client cannot forge the header fields of the verdict.
	if a := harness.Get(t, at("8082", "/echo"), harness.Firefox, harness.Header("X-Robots-Verdict", "allowed"), harness.Header("X-Robots-Crawler", "me")); a.Body != "verdict= crawler=" {
		t.Errorf("got %q", a.Body)
	}
}

// TestDemo runs the demo as the README describes.
func TestDemo(t *testing.T) {
	t.Parallel()
	s, _ := example(t, "Caddyfile.example", "8080")
	for _, host := range []string{"localhost", "127.0.0.1"} {
		local := "http://" + host + ":" + s.Port
		harness.Eventually(t, "a crawler is blocked", func() bool { return harness.Get(t, local+"/", harness.GPTBot).Status == 403 })
		for _, tc := range []struct {
			userAgent, path string
			status          int
		}{
			{harness.GPTBot, "/", 403},
			{harness.GPTBot, "/robots.txt", 200},
			{"ClaudeBot/1.0", "/", 403},
			{harness.Bingbot, "/", 200},
			{harness.Bingbot, "/private/", 403},
			{harness.Googlebot, "/private/press/", 200},
			{harness.GooglebotImage, "/private/press/logo.png", 200},
			{harness.GooglebotImage, "/private/", 403},
			{harness.Firefox, "/private/", 200},
			{"", "/private/", 200},
			{harness.Curl, "/private/", 200},
		} {
			if a := harness.Get(t, local+tc.path, tc.userAgent); a.Status != tc.status {
				t.Errorf("%s as %q: got %d, want %d", tc.path, tc.userAgent, a.Status, tc.status)
			}
		}
		found := harness.ReadMetrics(t, local+"/metrics").Sum(harness.RequestsMetric, `host="`+host+`"`, `action="blocked"`, `crawler="GPTBot"`)
		if found < 1 {
			t.Errorf("no blocked request of GPTBot for %s in the metrics", host)
		}
	}
	for line := range strings.Lines(s.Logs.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["level"] == "error" {
			t.Errorf("an error in the demo's log: %s", line)
		}
	}
}
