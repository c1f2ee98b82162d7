package replay

import (
	"bytes"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// TestChallenge counts the requests that a challenge on disallowed pages would and would not meet.
func TestChallenge(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	add := func(n int, request, userAgent string) {
		log.WriteString(strings.Repeat(combined(noon, request, userAgent), n))
	}
	add(6, "GET /", firefox)
	add(2, "GET /about.html", firefox)
	add(2, "GET /search?q=x", firefox)
	add(1, "GET /%73earch", firefox)
	add(20, "GET /style.css", firefox)
	add(3, "GET /search/logo.png", firefox) // disallowed, but not a page
	add(1, "POST /search", firefox)
	add(1, "GET /robots.txt", firefox)
	add(1, "GET /.well-known/security.txt", firefox)
	add(4, "GET /search", "-")
	add(5, "GET /search", "curl/8.7.1")
	add(7, "GET /search", gptbot)
	add(8, "GET /search", googlebot)
	add(9, "GET /page", gptbot)
	const robots = "User-agent: *\nDisallow: /search\nDisallow: /robots.txt\nDisallow: /.well-known/\n\nUser-agent: Googlebot\nAllow: /\n"
	r := replayed(t, log.String(), func(o *Options) { o.Paths, o.Versions = true, oneVersion(robots) })
	want := ChallengeReport{Pages: 11, ChallengedPages: 3, Requests: 31, BrowserRequests: 7, ProgramRequests: 9, Blocked: 7, Passed: 8}
	if r.Challenge == nil || *r.Challenge != want {
		t.Errorf("got %+v, want %+v", r.Challenge, want)
	}
	if r.Disallowed != 7 || r.Browsers != 41 {
		t.Errorf("%d disallowed, %d of browsers", r.Disallowed, r.Browsers)
	}
	spared := replayed(t, log.String(), func(o *Options) {
		var err error
		if o.Settings.OnlyLog, err = judge.ParseClientSet(nil, []string{"ai_training"}, nil); err != nil {
			t.Fatal(err)
		}
		o.Paths, o.Versions = true, oneVersion(robots)
	})
	if c := spared.Challenge; c.Blocked != 0 || c.Passed != 15 {
		t.Errorf("only_log: %+v", c)
	}
	var table bytes.Buffer
	r.WriteText(&table)
	const says = "Pages opened by browsers: 11. A challenge on every page would meet all of them, and a challenge on disallowed pages 3 (27.3 %)."
	if !strings.Contains(table.String(), says) {
		t.Errorf("%q is not in\n%s", says, table.String())
	}
	if r := replayed(t, log.String(), nil); r.Challenge != nil {
		t.Errorf("not asked for: %+v", r.Challenge)
	}
}
