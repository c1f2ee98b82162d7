package logs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestViolationLines checks the log lines about violations.
func TestViolationLines(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ level, action string }{
		"monitor": {"info", "logged"},
		"enforce": {"warn", "blocked"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, harness.RuledSite, "$MODE", mode)
			s.Warm("/")
			harness.Get(t, s.URL("/private/x?a=b"), harness.GooglebotImage, harness.Header("Cookie", "secret=1"))
			lines := s.Await("request disallowed by robots.txt", 1)
			if len(lines) != 1 {
				t.Fatalf("got %d lines, want 1", len(lines))
			}
			got := lines[0]
			for name, value := range map[string]any{
				"level": want.level, "logger": "http.handlers.robots_guard", "action": want.action, "verdict": "disallowed",
				"crawler": "Googlebot-Image", "class": "search", "identity": "claimed",
				"rule": "Disallow: /private/", "line": 5.0, "group": "Googlebot", "group_line": 4.0,
				"suppressed": 0.0,
			} {
				if got[name] != value {
					t.Errorf("%s is %v, want %v", name, got[name], value)
				}
			}
			request, _ := got["request"].(map[string]any)
			for name, value := range map[string]any{"host": "a.test:" + s.Port, "method": "GET", "uri": "/private/x?a=b", "client_ip": "127.0.0.1"} {
				if request[name] != value {
					t.Errorf("request>%s is %v, want %v", name, request[name], value)
				}
			}
			if headers, _ := request["headers"].(map[string]any); !slices.Equal(headers["User-Agent"].([]any), []any{harness.GooglebotImage}) || headers["Cookie"].([]any)[0] != "REDACTED" {
				t.Errorf("the header is %v", headers)
			}
			if version, _ := got["version"].(string); len(version) != 12 {
				t.Errorf("version is %v", got["version"])
			}
		})
	}
}

// TestViolationLinesSuppressed sends a burst of violations. The log reports the number
// of suppressed lines for each crawler.
func TestViolationLinesSuppressed(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, harness.RuledSite, "$MODE", "enforce")
	s.Warm("/")
	lines := func(crawler string) (found []map[string]any) {
		for _, line := range s.Lines("request disallowed by robots.txt") {
			if line["crawler"] == crawler {
				found = append(found, line)
			}
		}
		return found
	}
	const burst = 40
	for range burst {
		harness.Get(t, s.URL("/private/x"), harness.Bingbot)
	}
	harness.Get(t, s.URL("/private/x"), harness.Googlebot) // logged after the whole burst
	harness.Eventually(t, "another crawler's line is written", func() bool { return len(lines("Googlebot")) == 1 })
	written := len(lines("bingbot"))
	if written < 5 || written > 15 {
		t.Errorf("%d lines for %d violations", written, burst)
	}
	sent := burst
	harness.Eventually(t, "another line is written", func() bool {
		time.Sleep(100 * time.Millisecond)
		harness.Get(t, s.URL("/private/x"), harness.Bingbot)
		sent++
		return len(lines("bingbot")) > written
	})
	accounted := 0.0
	for _, line := range lines("bingbot") {
		accounted += 1 + line["suppressed"].(float64)
	}
	// The log line may arrive after the next requests.
	if int(accounted) > sent || int(accounted) < sent-5 {
		t.Errorf("the log counts %v of %d violations", accounted, sent)
	}
}

// TestViolationLinesHostile sends content that might break a log line.
func TestViolationLinesHostile(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, harness.RuledSite, "$MODE", "enforce")
	s.Warm("/")
	sent := "GET /private/\xff%0a%22" + strings.Repeat("x", 5000) + " HTTP/1.1\r\nHost: a.test:" + s.Port +
		"\r\nUser-Agent: GPTBot/1.0 \xff\"\t" + strings.Repeat("y", 5000) + "\r\nConnection: close\r\n\r\n"
	harness.Raw(t, s, sent)
	s.Await("request disallowed by robots.txt", 1)
	for line := range strings.Lines(s.Logs.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Errorf("%v in %.300q", err, line)
		}
		if len(line) > len(sent)+1000 {
			t.Errorf("a line of %d bytes for a request of %d bytes", len(line), len(sent))
		}
	}
	if n := len(s.Lines("request disallowed by robots.txt")); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
}
