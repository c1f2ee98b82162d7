package served

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	gptGroup = "\nUser-agent: GPTBot\nDisallow: /gpt/\n"

	// production and staging are the robots.txt of a site and that of its staging site.
	production = "User-agent: *\nDisallow: /private/\n" + gptGroup
	staging    = "User-agent: *\nDisallow: /\n" + gptGroup

	changeHeldMetric = "caddy_robots_guard_change_held"

	holdBegins = "change guard: the new robots.txt disallows pages that search engines were served; the previous version stays in force"
	holdEnds   = "change guard: a previous robots.txt is no longer in force"
)

// TestChangeGuard deploys the robots.txt of a staging site by accident.
func TestChangeGuard(t *testing.T) {
	t.Parallel()
	o, robots := harness.NewChangingOrigin(t, production)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			ttl 1s 1s
			grace off
			change_guard 20s
		}
		header >X-Verdict {http.robots_guard.verdict}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	harness.Visits(t, s, []harness.Visit{
		{harness.Googlebot, "/a", 200, "origin /a"},
		{harness.Bingbot, "/a?page=2", 200, "origin /a"},
		{harness.GPTBot, "/a", 200, "origin /a"},
		{harness.Bingbot, "/private/x", 403, ""},
		{harness.GPTBot, "/gpt/x", 403, ""},
	})

	robots.Store(staging)
	if a := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot); a.Body != staging {
		t.Fatalf("the robots.txt served is %q", a.Body)
	}
	var line map[string]any
	harness.Eventually(t, "the change is noticed", func() bool {
		for _, page := range []string{"/a", "/never/seen"} {
			if a := harness.Get(t, s.URL(page), harness.Googlebot); a.Status != 200 {
				t.Fatalf("%s: got %d %q", page, a.Status, a.Body)
			}
		}
		if lines := s.Lines(holdBegins); len(lines) > 0 {
			line = lines[0]
		}
		return line != nil
	})
	seconds, _ := line["until"].(float64)
	until := time.UnixMicro(int64(seconds * 1e6))
	if examples, _ := line["examples"].([]any); line["level"] != "warn" || len(examples) < 2 ||
		!strings.HasSuffix(examples[0].(string), "(Disallow: /, line 2)") || line["advice"] == "" {
		t.Errorf("log line: %v", line)
	}
	if a := harness.Get(t, s.URL("/a"), harness.Bingbot); a.Status != 200 || a.Header.Get("X-Verdict") != "stale" {
		t.Errorf("got %d, %q", a.Status, a.Header.Get("X-Verdict"))
	}
	harness.Visits(t, s, []harness.Visit{
		{harness.Bingbot, "/robots.txt", 200, "Disallow: /\n"}, // the served file is unchanged
		{harness.Bingbot, "/private/x", 403, "Disallow: /"},
		{harness.GPTBot, "/a", 200, "origin /a"},
		{harness.GPTBot, "/gpt/x", 403, ""},
		{harness.Firefox, "/a", 200, "origin /a"},
	})
	if n := s.Metrics()[changeHeldMetric+`{host="a.test"}`]; n != 1 {
		t.Errorf("the metric is %v, want 1", n)
	}

	harness.Eventually(t, "the new robots.txt is in force", func() bool { return harness.Get(t, s.URL("/a"), harness.Googlebot).Status == 403 })
	if early := time.Until(until); early > time.Millisecond {
		t.Errorf("the change takes effect %v too early", early)
	}
	harness.Visits(t, s, []harness.Visit{
		{harness.GPTBot, "/a", 200, "origin /a"},
		{harness.GPTBot, "/gpt/x", 403, ""},
		{harness.Firefox, "/a", 200, "origin /a"},
	})
	s.Await(holdEnds, 1)
	harness.Eventually(t, "the gauge is gone", func() bool { return s.Metrics().Sum(changeHeldMetric) == 0 })
	if n := len(s.Lines(holdBegins)); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}

// TestChangeGuardOverReload reloads the configuration while the change guard holds a
// change, and then turns the change guard off.
func TestChangeGuardOverReload(t *testing.T) {
	t.Parallel()
	o, robots := harness.NewChangingOrigin(t, production)
	s := harness.ServeReloadable(t, o)
	unguarded := strings.Replace(s.Config, "robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n grace off\n }", 1)
	s.Config = strings.Replace(unguarded, "grace off", "grace off\n change_guard 1h", 1)
	load := func(name string) {
		t.Helper()
		if status, body := s.Load(s.Named(name, "")); status != 200 {
			t.Fatalf("reload: %d %s", status, body)
		}
	}
	// Connections to a socket that a reload closes may be reset.
	ask := func() (a harness.Answer) {
		t.Helper()
		harness.Eventually(t, "the server responds", func() bool {
			var err error
			a, err = harness.Try(harness.Client, s.URL("/a"), harness.Googlebot)
			return err == nil
		})
		return a
	}
	load("guarded")
	ask()
	s.Warm("/")
	harness.Get(t, s.URL("/a"), harness.Googlebot)
	load("before the change")
	ask()
	robots.Store(staging)
	harness.Eventually(t, "the change is noticed", func() bool {
		if a := ask(); a.Status != 200 {
			t.Fatalf("got %d %q", a.Status, a.Body)
		}
		return len(s.Lines(holdBegins)) > 0
	})
	load("after the change")
	if a := ask(); a.Status != 200 || a.Header.Get("X-Config") != "after the change" {
		t.Errorf("after a reload: got %d %q by %q", a.Status, a.Body, a.Header.Get("X-Config"))
	}
	s.Config = unguarded
	load("unguarded")
	if a := ask(); a.Status != 403 {
		t.Errorf("without a change guard: got %d %q", a.Status, a.Body)
	}
	harness.Eventually(t, "the gauge is gone", func() bool { return s.Metrics().Sum(changeHeldMetric) == 0 })
}
