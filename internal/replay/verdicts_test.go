package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestClasses requests the same disallowed page by clients of every class.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		userAgent, token, class string
		disallowed, exempt      uint64
	}{
		{googlebot, "Googlebot", "search", 1, 0},
		{gptbot, "GPTBot", "ai_training", 1, 0},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "ChatGPT-User", "ai_assistant", 0, 1},
		{"curl/8.7.1", "curl", "library", 0, 1},
		{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "facebookexternalhit", "preview", 0, 1},
		{"InventedBot/1.0 (+https://invented.example/)", "_other", "crawler", 1, 0},
		{"invented/1.0", "_other", "other", 0, 1},
	} {
		r := replayed(t, combined(noon, "GET /private/x", tc.userAgent), nil)
		if len(r.Crawlers) != 1 {
			t.Errorf("%s: crawlers %+v", tc.userAgent, r.Crawlers)
			continue
		}
		if c := r.Crawlers[0]; c.Token != tc.token || c.Class != tc.class || c.Disallowed != tc.disallowed || c.Exempt != tc.exempt || c.Allowed != 0 {
			t.Errorf("%s: %+v", tc.userAgent, c)
		}
		if r.Classes[0].WouldBlock != tc.disallowed {
			t.Errorf("%s: %+v", tc.userAgent, r.Classes)
		}
	}
	r := replayed(t, combined(noon, "GET /private/x", firefox)+combined(noon, "GET /private/x", "-")+combined(noon, "GET /private/x", ""), nil)
	if r.Browsers != 3 || r.Requests != 0 {
		t.Errorf("%d of browsers, %d requests", r.Browsers, r.Requests)
	}
	r = replayed(t, combined(noon, "GET /private/x", "Zorkly/2.0")+combined(noon, "GET /private/x", "curl/8.7.1"), func(o *Options) {
		o.Versions = oneVersion("User-agent: zorkly\nDisallow: /\n\nUser-agent: curl\nDisallow: /private\n")
	})
	if r.Disallowed != 2 {
		t.Errorf("groups that name what the * group does not judge: %+v", r.Crawlers)
	}
}

// TestTargets judges various request targets.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, request     string
		requests, outside uint64
		other             uint64
		robots            uint64
	}{
		{"outside", "GET /private/x", 1, 1, 0, 0},
		{"another spelling", "GET /%70rivate//x", 1, 1, 0, 0},
		{"the absolute form", "GET http://example.com/private/x", 1, 1, 0, 0},
		{"the absolute form without a path", "GET http://example.com", 1, 0, 0, 0},
		{"any method", "PROPFIND /private/x", 1, 1, 0, 0},
		{"robots.txt", "GET /robots.txt", 1, 0, 0, 1},
		{"robots.txt in another spelling, with a query", "GET /robots%2etxt?x", 1, 0, 0, 1},
		{"robots.txt in the absolute form", "GET http://example.com/robots.txt", 1, 0, 0, 1},
		{"another robots.txt", "GET /private/robots.txt", 1, 1, 0, 0},
		{"no path", "OPTIONS *", 0, 0, 1, 0},
		{"a proxy request", "CONNECT example.com:443", 0, 0, 1, 0},
		{"garbage", `\x16\x03\x01`, 0, 0, 1, 0},
		{"a certificate validator", "GET /.well-known/acme-challenge/private", 0, 0, 1, 0},
		{"not one", "POST /.well-known/acme-challenge/private", 1, 0, 0, 0},
	} {
		r := replayed(t, combined(noon, tc.request, googlebot), nil)
		var robots uint64
		for _, c := range r.Crawlers {
			robots += c.RobotsFetches
		}
		if r.Requests != tc.requests || r.Disallowed != tc.outside || r.OtherLines != tc.other || robots != tc.robots {
			t.Errorf("%s: %d requests, %d outside, %d others, %d of robots.txt", tc.name, r.Requests, r.Disallowed, r.OtherLines, robots)
		}
	}
	slashes := combined(noon, "GET //private/x", googlebot)
	if r := replayed(t, slashes, func(o *Options) { o.Settings.KeepSlashes = true }); r.Disallowed != 0 {
		t.Error("slashes were merged")
	}
}

// TestReportedPaths checks the path that the report has for a request target.
func TestReportedPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, rule, target, path string }{
		{"a rule without a query", "/a", "/a?x=1", "/a"},
		{"a rule with a query", "/*?", "/a?x=1", "/a?x=1"},
		{"the absolute form", "/*?", "http://example.com/a?x=1", "/a?x=1"},
		{"the absolute form without a path", "/*?", "http://example.com?x=1", "/?x=1"},
	} {
		r := replayed(t, combined(noon, "GET "+tc.target, googlebot), func(o *Options) {
			o.Versions = oneVersion("User-agent: *\nDisallow: " + tc.rule + "\n")
		})
		if len(r.Paths) != 1 || r.Paths[0].Path != tc.path {
			t.Errorf("%s: %+v, want %s", tc.name, r.Paths, tc.path)
		}
	}
}

// TestReadings decides which requests are robots fetches.
func TestReadings(t *testing.T) {
	t.Parallel()
	line := func(hour int, method string, status int) string {
		return fmt.Sprintf("192.0.2.1 - - [21/Nov/2026:%02d:00:00 +0000] \"%s /robots.txt HTTP/1.1\" %d 5 \"-\" \"%s\"\n", hour, method, status, gptbot)
	}
	for _, tc := range []struct{ name, log, want string }{
		{"the file", line(1, "GET", 200), "2026-11-21T01:00:00Z (200)"},
		{"the copy holds", line(1, "GET", 200) + line(2, "GET", 304), "2026-11-21T02:00:00Z (304)"},
		{"there is none", line(1, "GET", 404), "2026-11-21T01:00:00Z (404)"},
		{"a failure tells nothing", line(1, "GET", 200) + line(2, "GET", 503), "2026-11-21T01:00:00Z (200)"},
		{"nor does HEAD", line(1, "HEAD", 200), "never"},
		{"nor a redirect", line(1, "GET", 301), "never"},
		{"the last counts, not the last line", line(5, "GET", 200) + line(2, "GET", 304), "2026-11-21T05:00:00Z (200)"},
	} {
		if got := replayed(t, tc.log, nil).Crawlers[0].FormatLastFetch(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestStaleForLonger follows a crawler whose operator documents a delay of three days after a
// change, and a crawler without such a delay.
func TestStaleForLonger(t *testing.T) {
	t.Parallel()
	change := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	versions := []Version{
		{Name: "new", From: change, Body: []byte("User-agent: DuckAssistBot\nUser-agent: GPTBot\nDisallow: /\n")},
		{Name: "old", From: change.Add(-240 * time.Hour), Body: []byte("User-agent: DuckAssistBot\nUser-agent: GPTBot\nDisallow: /else/\n")},
	}
	const duckAssist = "DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)"
	for _, tc := range []struct {
		userAgent, at string
		stale         uint64
	}{
		{gptbot, "22/Nov/2026:11:59:59", 1},
		{gptbot, "22/Nov/2026:12:00:00", 0},
		{duckAssist, "22/Nov/2026:12:00:00", 1},
		{duckAssist, "24/Nov/2026:11:59:59", 1},
		{duckAssist, "24/Nov/2026:12:00:00", 0},
	} {
		r := replayed(t, combined(tc.at, "GET /x", tc.userAgent), func(o *Options) { o.Versions = versions })
		if r.Stale != tc.stale || r.Disallowed != 1-tc.stale {
			t.Errorf("%s by %s: %d stale, %d disallowed", tc.at, tc.userAgent, r.Stale, r.Disallowed)
		}
	}
}

// TestStale follows a crawler around a change of the robots.txt at noon.
func TestStale(t *testing.T) {
	t.Parallel()
	change := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	versions := []Version{{Name: "new", From: change, Body: []byte(rules)}, {Name: "old", From: change.Add(-240 * time.Hour), Body: []byte("User-agent: *\nDisallow: /else/\n")}}
	const forbidden, robots = "GET /private/x", "GET /robots.txt"
	for _, tc := range []struct {
		name, log         string
		disallowed, stale uint64
	}{
		{name: "before the change", log: combined("21/Nov/2026:11:59:59", forbidden, gptbot)},
		{name: "just after it", log: combined("21/Nov/2026:12:00:00", forbidden, gptbot), stale: 1},
		{name: "a day after it", log: combined("22/Nov/2026:11:59:59", forbidden, gptbot) + combined("22/Nov/2026:12:00:00", forbidden, gptbot), stale: 1, disallowed: 1},
		{name: "after it has read the new one", log: combined("21/Nov/2026:13:00:00", forbidden, gptbot) + combined("21/Nov/2026:14:00:00", robots, gptbot) +
			combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 2},
		{name: "after it has read the old one", log: combined("21/Nov/2026:11:00:00", robots, gptbot) + combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1},
		{name: "after another has read the new one", log: combined("21/Nov/2026:14:00:00", robots, googlebot) + combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1},
		{name: "after its name has read it from elsewhere", log: strings.Replace(combined("21/Nov/2026:14:00:00", robots, gptbot), "192.0.2.1", "198.51.100.1", 1) +
			combined("21/Nov/2026:15:00:00", forbidden, gptbot), stale: 1},
		{name: "what both forbid", log: combined("21/Nov/2026:13:00:00", "GET /private/../else/x", gptbot), disallowed: 1},
	} {
		r := replayed(t, tc.log, func(o *Options) { o.Versions = versions })
		if r.Disallowed != tc.disallowed || r.Stale != tc.stale {
			t.Errorf("%s: %d disallowed, %d stale, want %d, %d", tc.name, r.Disallowed, r.Stale, tc.disallowed, tc.stale)
		}
	}
	r := replayed(t, combined("01/Nov/2026:00:00:00", "GET /else/", gptbot), func(o *Options) { o.Versions = versions })
	if r.Disallowed != 1 || !strings.Contains(fmt.Sprint(r.Notes), "1 requests are older than the first version") {
		t.Errorf("before the first version: %d disallowed, %q", r.Disallowed, r.Notes)
	}
}
