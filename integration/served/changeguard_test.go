package served

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	gptGroup = "\nUser-agent: GPTBot\nDisallow: /gpt/\n"

	// production and staging are the robots.txt of a site and that of its staging site.
	production = "User-agent: *\nDisallow: /private/\n" + gptGroup
	staging    = "User-agent: *\nDisallow: /\n" + gptGroup

	changeHeldMetric = "caddy_robots_guard_change_held"

	holdBegins = "change guard: the new robots.txt disallows pages that search engines were served; the previous version stays in force"
)

// TestChangeGuard deploys the robots.txt of a staging site by accident, reloads the
// configuration while the change guard holds the change, and turns the change guard off.
func TestChangeGuard(t *testing.T) {
	t.Parallel()
	o, robots := harness.NewChangingOrigin(t, production)
	s := harness.ServeReloadable(t, o)
	unguarded := strings.Replace(s.Config, "robots_guard enforce", "header >X-Verdict {http.robots_guard.verdict}\n robots_guard enforce {\n ttl 1s 1s\n grace off\n }", 1)
	s.Config = strings.Replace(unguarded, "grace off", "grace off\n change_guard 1h", 1)
	s.MustLoad(s.Named("guarded", ""))
	s.Warm("/")
	harness.Visits(t, s.Server, []harness.Visit{
		{harness.Googlebot, "/a", 200, "origin /a"},
		{harness.Bingbot, "/a?page=2", 200, "origin /a"},
		{harness.GPTBot, "/a", 200, "origin /a"},
		{harness.Bingbot, "/private/x", 403, ""},
		{harness.GPTBot, "/gpt/x", 403, ""},
	})
	s.MustLoad(s.Named("before the change", ""))

	robots.Store(staging)
	harness.Eventually(t, "the change is noticed", func() bool {
		harness.Visits(t, s.Server, []harness.Visit{{harness.Googlebot, "/a", 200, ""}, {harness.Googlebot, "/never/seen", 200, ""}})
		return len(s.Lines(holdBegins)) > 0
	})
	line := s.Lines(holdBegins)[0]
	if examples, _ := line["examples"].([]any); line["level"] != "warn" || len(examples) < 2 ||
		!strings.HasSuffix(examples[0].(string), "(Disallow: /, line 2)") || line["advice"] == "" {
		t.Errorf("log line: %v", line)
	}
	for _, config := range []string{"before the change", "after the change"} {
		if a := harness.Get(t, s.URL("/a"), harness.Bingbot); a.Status != 200 || a.Header.Get("X-Verdict") != "stale" || a.Header.Get("X-Config") != config {
			t.Errorf("got %d %v", a.Status, a.Header)
		}
		harness.Visits(t, s.Server, []harness.Visit{
			{harness.Bingbot, "/robots.txt", 200, "Disallow: /\n"}, // the served file is unchanged
			{harness.Bingbot, "/private/x", 403, "Disallow: /"},
			{harness.GPTBot, "/a", 200, "origin /a"},
			{harness.GPTBot, "/gpt/x", 403, ""},
			{harness.Firefox, "/a", 200, "origin /a"},
		})
		if n := s.Metrics()[changeHeldMetric+`{host="a.test"}`]; n != 1 {
			t.Errorf("the metric is %v, want 1", n)
		}
		s.MustLoad(s.Named("after the change", ""))
	}

	s.Config = unguarded
	s.MustLoad(s.Named("unguarded", ""))
	harness.Visits(t, s.Server, []harness.Visit{{harness.Googlebot, "/a", 403, ""}, {harness.GPTBot, "/a", 200, ""}, {harness.Firefox, "/a", 200, ""}})
	harness.Eventually(t, "the gauge is gone", func() bool { return s.Metrics().Sum(changeHeldMetric) == 0 })
	if n := len(s.Lines(holdBegins)); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}
