package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMetrics compares the metrics after a known mix of requests with what was
// sent, labels and all.
func TestMetrics(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, closedRobots+"\nUser-agent: zorkly\nDisallow: /\n", nil)
	s := serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			exempt archive
			only_log Googlebot
		}
		reverse_proxy $ORIGIN
	}
	http://b.test:$PORT, http://*.c.test:$PORT {
		robots_guard monitor
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.address())
	s.warm("http://a.test/", "http://b.test/", "http://x.c.test/")
	before := s.metrics()

	want := make(samples)
	send := func(times int, url, userAgent, labels string) {
		for range times {
			get(t, s.url(url), userAgent)
		}
		if labels != "" {
			want[requestsMetric+"{"+labels+"}"] += float64(times)
		}
	}
	series := func(action, class, crawler, host, verdict string) string {
		return fmt.Sprintf(`action="%s",class="%s",crawler="%s",host="%s",identity="claimed",verdict="%s"`, action, class, crawler, host, verdict)
	}
	send(3, "http://a.test/private/x", bingbot, series("blocked", "search", "bingbot", "a.test", "disallowed"))
	send(2, "http://a.test/page", bingbot, series("none", "search", "bingbot", "a.test", "allowed"))
	send(2, "http://A.Test/page", "BINGBOT/2.0", series("none", "search", "bingbot", "a.test", "allowed"))
	send(1, "http://a.test/private/x", googlebot, series("logged", "search", "Googlebot", "a.test", "disallowed"))
	send(4, "http://a.test/page", gptBot, series("blocked", "ai_training", "GPTBot", "a.test", "disallowed"))
	send(2, "http://a.test/robots.txt", gptBot, series("none", "ai_training", "GPTBot", "a.test", "allowed"))
	send(1, "http://a.test/private/x", uptimeRobot, series("none", "monitor", "UptimeRobot", "a.test", "exempt"))
	send(1, "http://a.test/private/x", "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)", series("none", "archive", "archive.org_bot", "a.test", "exempt"))
	send(5, "http://a.test/private/x", firefox, "")
	send(5, "http://a.test/private/x", "", "")
	send(2, "http://a.test/private/x", fooBot, series("blocked", "crawler", "_other", "a.test", "disallowed"))
	send(1, "http://a.test/x", "Zorkly/1.0", series("blocked", "other", "zorkly", "a.test", "disallowed"))
	send(1, "http://a.test/x", "MyApp/1.0", series("none", "other", "_other", "a.test", "exempt"))
	send(2, "http://b.test/private/x", bingbot, series("logged", "search", "bingbot", "b.test", "disallowed"))
	send(2, "http://x.c.test/private/x", bingbot, series("logged", "search", "bingbot", "*.c.test", "disallowed"))
	send(1, "http://a.test/private/x", curl, series("none", "library", "curl", "a.test", "exempt"))

	got := make(samples)
	after := s.metrics()
	for name, value := range after.of(requestsMetric) {
		name = requestsMetric + name
		if n := value - before[name]; n != 0 {
			got[name] = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is %v, want %v", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is %v, and was not expected", name, got[name])
		}
	}
	// One attempt for each host.
	if n := after[fetchesMetric+`{result="rules",source="server"}`]; n != 3 || after.sum(fetchesMetric) != n {
		t.Errorf("%v attempts to read a robots.txt, want 3: %v", n, after.of(fetchesMetric))
	}
	if n := after.sum("caddy_robots_guard_fetch_duration_seconds_count"); n != 3 {
		t.Errorf("%v durations, want 3", n)
	}
	if n := after.sum("caddy_robots_guard_policies_cached"); n != 3 {
		t.Errorf("%v policies are cached, want 3", n)
	}
}

// TestMetricsFindings shows what the parser noticed.
func TestMetricsFindings(t *testing.T) {
	t.Parallel()
	s := serve(t, `http://a.test:$PORT {
		robots_guard
		respond /robots.txt "Disallow: /before
User-agent: *
Disalow: /typo
Disallow: noslash
Disallow: alsonone"
		respond "page"
	}`)
	s.warm("/")
	want := samples{
		`{code="rule-outside-group",host="a.test"}`: 1,
		`{code="misspelt-key",host="a.test"}`:       1,
		`{code="rule-without-slash",host="a.test"}`: 2,
	}
	var got samples
	eventually(t, "findings are counted", func() bool {
		got = s.metrics().of("caddy_robots_guard_findings")
		return len(got) > 0
	})
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMetricsInvented lets clients invent crawlers and hosts: neither becomes a
// label, and what is kept for them is bounded.
func TestMetricsInvented(t *testing.T) {
	t.Parallel()
	s := serve(t, `http://a.test:$PORT {
		robots_guard monitor
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}
	http://:$PORT {
		robots_guard monitor
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}`)
	s.warm("/")
	invent := newClient(false)
	invent.Transport.(*http.Transport).DisableKeepAlives = false
	const crawlers, hosts = 1000, 1500
	next := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range next {
				url, userAgent := s.url("/private/x"), fmt.Sprintf("Invented%dBot/1.0 (+http://invented.example/%d)", i, i)
				if i >= crawlers {
					url, userAgent = "http://127.0.0.1:"+s.port+"/private/x", bingbot
				}
				_, err := try(invent, url, userAgent, func(r *http.Request) {
					if i >= crawlers {
						r.Host = fmt.Sprintf("h%d.invented.test:%s", i, s.port)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range crawlers + hosts {
		next <- i
	}
	close(next)
	workers.Wait()

	all := s.metrics()
	for name := range all.of(requestsMetric) {
		if !strings.Contains(name, `crawler="_other"`) && !strings.Contains(name, `crawler="bingbot"`) ||
			!strings.Contains(name, `host="a.test"`) && !strings.Contains(name, `host="_other"`) || strings.Contains(name, "nvented") {
			t.Errorf("an invented label: %s", name)
		}
	}
	if n := len(all.of(requestsMetric)); n > 6 {
		t.Errorf("%d series, want a handful", n)
	}
	if n := all.sum(requestsMetric, `crawler="_other"`, `host="a.test"`); n != crawlers {
		t.Errorf("%v requests of invented crawlers counted, want %d", n, crawlers)
	}
	if n := all.sum(requestsMetric, `crawler="bingbot"`, `host="_other"`); n != hosts {
		t.Errorf("%v requests for invented hosts counted, want %d", n, hosts)
	}
	if n := all.sum("caddy_robots_guard_policies_cached", "invented"); n > 1000 || n == 0 {
		t.Errorf("%v policies of invented hosts are cached, want at most 1000", n)
	}
	if n := all.sum("caddy_robots_guard_policies_evicted_total", "invented"); n < hosts-1000 {
		t.Errorf("%v of %d invented hosts were evicted", n, hosts)
	}
	if n := all.sum("caddy_robots_guard_policies_cached", "named"); n != 1 {
		t.Errorf("%v policies of named hosts are cached, want 1", n)
	}
	// The named site is as well as before, and invented hosts fill no log.
	if a := get(t, s.url("/private/x"), bingbot); a.status != 200 {
		t.Errorf("got %d", a.status)
	}
	if n := len(s.lines("request outside robots.txt")); n > 50 {
		t.Errorf("%d lines in the log", n)
	}
	if n := len(s.lines("robots.txt read")); n > 3 {
		t.Errorf("%d lines about robots.txt files in the log", n)
	}
}

// TestViolationLines looks at what is logged about violations.
func TestViolationLines(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ level, action string }{
		"monitor": {"info", "logged"},
		"enforce": {"warn", "blocked"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ruled, "$MODE", mode)
			s.warm("/")
			get(t, s.url("/private/x?a=b"), googlebotImage)
			lines := s.await("request outside robots.txt", 1)
			if len(lines) != 1 {
				t.Fatalf("got %d lines, want 1", len(lines))
			}
			got := lines[0]
			for name, value := range map[string]any{
				"level": want.level, "logger": "http.handlers.robots_guard", "action": want.action, "verdict": "disallowed",
				"crawler": "Googlebot-Image", "class": "search", "identity": "claimed",
				"rule": "Disallow: /private/", "line": 5.0, "group": "Googlebot", "group_line": 4.0,
				"host": "a.test:" + s.port, "method": "GET", "uri": "/private/x?a=b", "client_ip": "127.0.0.1",
				"user_agent": googlebotImage, "suppressed": 0.0,
			} {
				if got[name] != value {
					t.Errorf("%s is %v, want %v", name, got[name], value)
				}
			}
			if version, _ := got["version"].(string); len(version) != 12 {
				t.Errorf("version is %v", got["version"])
			}
		})
	}
}

// TestViolationLinesSuppressed sends a burst: the log says how much it leaves
// out, for each crawler by itself.
func TestViolationLinesSuppressed(t *testing.T) {
	t.Parallel()
	s := serve(t, ruled, "$MODE", "enforce")
	s.warm("/")
	lines := func(crawler string) (found []map[string]any) {
		for _, line := range s.lines("request outside robots.txt") {
			if line["crawler"] == crawler {
				found = append(found, line)
			}
		}
		return found
	}
	const burst = 40
	for range burst {
		get(t, s.url("/private/x"), bingbot)
	}
	get(t, s.url("/private/x"), googlebot) // its line comes after all of the burst
	eventually(t, "another crawler's line is written", func() bool { return len(lines("Googlebot")) == 1 })
	written := len(lines("bingbot"))
	if written < 5 || written > 15 {
		t.Errorf("%d lines for %d violations", written, burst)
	}
	sent := burst
	eventually(t, "another line is written", func() bool {
		time.Sleep(100 * time.Millisecond)
		get(t, s.url("/private/x"), bingbot)
		sent++
		return len(lines("bingbot")) > written
	})
	accounted := 0.0
	for _, line := range lines("bingbot") {
		accounted += 1 + line["suppressed"].(float64)
	}
	// The line may arrive here after the next requests were sent.
	if int(accounted) > sent || int(accounted) < sent-5 {
		t.Errorf("the log accounts for %v of %d violations", accounted, sent)
	}
}

// TestViolationLinesHostile sends what could break a log line.
func TestViolationLinesHostile(t *testing.T) {
	t.Parallel()
	s := serve(t, ruled, "$MODE", "enforce")
	s.warm("/")
	raw(t, s, "GET /private/\xff%0a%22"+strings.Repeat("x", 5000)+" HTTP/1.1\r\nHost: a.test:"+s.port+
		"\r\nUser-Agent: GPTBot/1.0 \xff\"\t"+strings.Repeat("y", 5000)+"\r\nConnection: close\r\n\r\n")
	s.await("request outside robots.txt", 1)
	for line := range strings.Lines(s.logs.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Errorf("%v in %.300q", err, line)
		}
		if len(line) > 5000 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if n := len(s.lines("request outside robots.txt")); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
}

// TestAccessLog looks for the verdict in the access log, in which the guard's
// own requests have no place.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	s := serve(t, strings.Replace(ruled, "{\n", "{\n\tlog\n", 1), "$MODE", "enforce")
	s.warm("/")
	get(t, s.url("/private/x"), bingbot)
	get(t, s.url("/page"), gptBot)
	get(t, s.url("/private/y"), firefox)
	get(t, s.url("/robots.txt"), gptBot)
	find := func(uri string) (found []map[string]any) {
		for _, line := range s.lines("handled request") {
			if line["request"].(map[string]any)["uri"] == uri {
				found = append(found, line)
			}
		}
		return found
	}
	eventually(t, "the last request is logged", func() bool { return len(find("/robots.txt")) > 0 })
	if n := len(find("/robots.txt")); n != 1 {
		t.Errorf("%d lines about /robots.txt, want only the crawler's", n)
	}
	for uri, want := range map[string]map[string]any{
		"/private/x": {"verdict": "disallowed", "action": "blocked", "crawler": "bingbot", "class": "search", "rule": "Disallow: /private/", "line": 2.0},
		"/page":      {"verdict": "disallowed", "action": "blocked", "crawler": "GPTBot", "group": "GPTBot"},
		"/private/y": nil,
	} {
		lines := find(uri)
		if len(lines) != 1 {
			t.Fatalf("%d lines about %s", len(lines), uri)
		}
		got, _ := lines[0]["robots_guard"].(map[string]any)
		if want == nil && got != nil {
			t.Errorf("%s: a browser is in the log: %v", uri, got)
		}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %v, want %v", uri, name, got[name], value)
			}
		}
		status := 200.0
		if want != nil {
			status = 403
		}
		if lines[0]["status"] != status {
			t.Errorf("%s: status %v", uri, lines[0]["status"])
		}
	}
}

// TestAccessLogOfMatcher has the matcher alone, which reads the robots.txt, too.
func TestAccessLogOfMatcher(t *testing.T) {
	t.Parallel()
	s := serve(t, `http://a.test:$PORT {
		log
		@outside robots_disallowed
		respond @outside "no" 403
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}`)
	eventually(t, "the matcher matches", func() bool { return get(t, s.url("/private/x"), bingbot).status == 403 })
	get(t, s.url("/last"), firefox)
	eventually(t, "the last request is logged", func() bool { return strings.Contains(s.logs.String(), `"uri":"/last"`) })
	if strings.Contains(s.logs.String(), `"uri":"/robots.txt"`) {
		t.Error("the guard's own request is in the access log")
	}
}

// TestPlaceholders shows them where sites use them.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	const all = "{http.robots_guard.verdict}|{http.robots_guard.action}|{http.robots_guard.crawler}|{http.robots_guard.class}|" +
		"{http.robots_guard.identity}|{http.robots_guard.rule}|{http.robots_guard.line}|{http.robots_guard.group}"
	o := newOrigin(t, closedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			return false
		}
		fmt.Fprint(w, r.Header.Get("X-Robots"))
		return true
	})
	s := serve(t, `http://a.test:$PORT {
		robots_guard monitor
		header >X-Robots "$ALL"
		request_header X-Robots "$ALL"
		respond /respond "$ALL"
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.address(), "$ALL", all)
	s.warm("/")
	for _, tc := range []struct{ userAgent, path, want string }{
		{bingbot, "/private/x", "disallowed|logged|bingbot|search|claimed|Disallow: /private/|2|*"},
		{bingbot, "/page", "allowed|none|bingbot|search|claimed|||*"},
		{uptimeRobot, "/page", "exempt|none|UptimeRobot|monitor|claimed|||"},
		{"gptbot/9", "/respond", "disallowed|logged|GPTBot|ai_training|claimed|Disallow: /|5|GPTBot"},
		{firefox, "/private/x", "|||||||"},
		{firefox, "/respond", "|||||||"},
		{"", "/respond", "|||||||"},
	} {
		a := get(t, s.url(tc.path), tc.userAgent)
		if a.body != tc.want || a.header.Get("X-Robots") != tc.want {
			t.Errorf("%s as %q: got body %q, header %q, want %q", tc.path, tc.userAgent, a.body, a.header.Get("X-Robots"), tc.want)
		}
	}
}
