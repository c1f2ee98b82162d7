package integration

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	gptGroup = "\nUser-agent: GPTBot\nDisallow: /gpt/\n"

	// production and staging are the robots.txt of a site and the one that
	// belongs to its copy for tests.
	production = "User-agent: *\nDisallow: /private/\n" + gptGroup
	staging    = "User-agent: *\nDisallow: /\n" + gptGroup

	changeHeldMetric = "caddy_robots_guard_change_held"

	holdBegins = "change guard: the new robots.txt forbids what search engines were served; the version before stays in force"
	holdEnds   = "change guard: a version of robots.txt before the current one is not in force any more"
)

// newChangingOrigin returns an origin and what its robots.txt is.
func newChangingOrigin(t *testing.T, text string) (*origin, *atomic.Value) {
	t.Helper()
	var robots atomic.Value
	robots.Store(text)
	return newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, robots.Load().(string))
			return true
		}
		return false
	}), &robots
}

// TestChangeGuard deploys the robots.txt of a staging site by accident.
func TestChangeGuard(t *testing.T) {
	t.Parallel()
	o, robots := newChangingOrigin(t, production)
	s := serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			ttl 1s 1s
			grace off
			change_guard 20s
		}
		header >X-Verdict {http.robots_guard.verdict}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.address())
	s.warm("/")
	visits(t, s, []visit{
		{googlebot, "/a", 200, "origin /a"},
		{bingbot, "/a?page=2", 200, "origin /a"},
		{gptBot, "/a", 200, "origin /a"},
		{bingbot, "/private/x", 403, ""},
		{gptBot, "/gpt/x", 403, ""},
	})

	robots.Store(staging)
	if a := get(t, s.url("/robots.txt"), googlebot); a.body != staging {
		t.Fatalf("the robots.txt served is %q", a.body)
	}
	var line map[string]any
	eventually(t, "the change is noticed", func() bool {
		for _, page := range []string{"/a", "/never/seen"} {
			if a := get(t, s.url(page), googlebot); a.status != 200 {
				t.Fatalf("%s: got %d %q", page, a.status, a.body)
			}
		}
		if lines := s.lines(holdBegins); len(lines) > 0 {
			line = lines[0]
		}
		return line != nil
	})
	seconds, _ := line["until"].(float64)
	until := time.UnixMicro(int64(seconds * 1e6))
	if examples, _ := line["examples"].([]any); line["level"] != "warn" || len(examples) < 2 ||
		!strings.HasSuffix(examples[0].(string), "(Disallow: /, line 2)") || line["advice"] == "" {
		t.Errorf("the line in the log: %v", line)
	}
	if a := get(t, s.url("/a"), bingbot); a.status != 200 || a.header.Get("X-Verdict") != "stale" {
		t.Errorf("got %d, %q", a.status, a.header.Get("X-Verdict"))
	}
	visits(t, s, []visit{
		{bingbot, "/robots.txt", 200, "Disallow: /\n"}, // what is served is untouched
		{bingbot, "/private/x", 403, "Disallow: /"},
		{gptBot, "/a", 200, "origin /a"},
		{gptBot, "/gpt/x", 403, ""},
		{firefox, "/a", 200, "origin /a"},
	})
	if n := s.metrics()[changeHeldMetric+`{host="a.test"}`]; n != 1 {
		t.Errorf("the gauge is %v, want 1", n)
	}

	eventually(t, "the new robots.txt is in force", func() bool { return get(t, s.url("/a"), googlebot).status == 403 })
	if early := time.Until(until); early > time.Millisecond {
		t.Errorf("it is in force %v too early", early)
	}
	visits(t, s, []visit{
		{gptBot, "/a", 200, "origin /a"},
		{gptBot, "/gpt/x", 403, ""},
		{firefox, "/a", 200, "origin /a"},
	})
	s.await(holdEnds, 1)
	eventually(t, "the gauge is gone", func() bool { return s.metrics().sum(changeHeldMetric) == 0 })
	if n := len(s.lines(holdBegins)); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}

// TestChangeGuardOverReload reloads the configuration while a change is held
// back, and then turns the change guard off.
func TestChangeGuardOverReload(t *testing.T) {
	t.Parallel()
	o, robots := newChangingOrigin(t, production)
	s := serveReloadable(t, o)
	unguarded := strings.Replace(s.config, "robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n grace off\n }", 1)
	s.config = strings.Replace(unguarded, "grace off", "grace off\n change_guard 1h", 1)
	load := func(name string) {
		t.Helper()
		if status, body := s.load(s.named(name, "")); status != 200 {
			t.Fatalf("reload: %d %s", status, body)
		}
	}
	// A connection to the socket that a reload closes may be reset.
	ask := func() (a answer) {
		t.Helper()
		eventually(t, "the server answers", func() bool {
			var err error
			a, err = try(client, s.url("/a"), googlebot)
			return err == nil
		})
		return a
	}
	load("guarded")
	ask()
	s.warm("/")
	get(t, s.url("/a"), googlebot)
	load("before the change")
	ask()
	robots.Store(staging)
	eventually(t, "the change is noticed", func() bool {
		if a := ask(); a.status != 200 {
			t.Fatalf("got %d %q", a.status, a.body)
		}
		return len(s.lines(holdBegins)) > 0
	})
	load("after the change")
	if a := ask(); a.status != 200 || a.header.Get("X-Config") != "after the change" {
		t.Errorf("after a reload: got %d %q by %q", a.status, a.body, a.header.Get("X-Config"))
	}
	s.config = unguarded
	load("unguarded")
	if a := ask(); a.status != 403 {
		t.Errorf("without a change guard: got %d %q", a.status, a.body)
	}
	eventually(t, "the gauge is gone", func() bool { return s.metrics().sum(changeHeldMetric) == 0 })
}
