package managed

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// cms returns a server of a rule list, and a function that sets its response.
func cms(t *testing.T) (o *harness.Origin, say func(status int, body string)) {
	t.Helper()
	type answer struct {
		status int
		body   string
	}
	var now atomic.Pointer[answer]
	say = func(status int, body string) { now.Store(&answer{status, body}) }
	say(http.StatusOK, `{"rules": []}`)
	o = harness.NewOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		a := now.Load()
		w.WriteHeader(a.status)
		fmt.Fprint(w, a.body)
		return true
	})
	return o, say
}

// rule returns a list with a rule about a path.
func rule(id, path string) string {
	return fmt.Sprintf(`{"rules": [{"id": %q, "for": ["GPTBot"], "disallow": [%q]}]}`, id, path)
}

// TestRulesInAFile checks that the server reloads a changed list file by itself, and
// the guard enforces it. An invalid list leaves the previous rules in place.
func TestRulesInAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(harness.Files(t, map[string]string{"rules.json": rule("a", "/a")}), "rules.json")
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			grace off
		}
		robots_txt {
			base none
			disallow CCBot
			rules $FILE
		}
		respond ok
	}`, "$FILE", file)
	read := func() string {
		return harness.Get(t, s.URL("/robots.txt"), harness.GPTBot, harness.Host("a.test")).Body
	}
	if text := read(); !strings.Contains(text, "# rule a\nUser-agent: GPTBot\nDisallow: /a\n") || !strings.Contains(text, "User-agent: CCBot") {
		t.Fatalf("at the start: %q", text)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(rule("a", "/b"), "rules", "rulez", 1))
	harness.Eventually(t, "the mistake is told", func() bool {
		told := s.Lines("a list of rules cannot be used; the previous list stays in force")
		return len(told) == 1 && strings.Contains(fmt.Sprint(told[0]["error"]), file+":1:2: unknown field")
	})
	if text := read(); !strings.Contains(text, "Disallow: /a\n") {
		t.Errorf("after the mistake: %q", text)
	}
	if got := s.Metrics().Sum(`caddy_robots_guard_compose_errors_total{stage="rules"}`); got != 1 {
		t.Errorf("counted %v failures", got)
	}
	write(rule("a", "/b"))
	harness.Eventually(t, "the new rule is in force", func() bool { return strings.Contains(read(), "Disallow: /b\n") })
	harness.Eventually(t, "the guard enforces it", func() bool {
		return harness.Get(t, s.URL("/b"), harness.GPTBot, harness.Host("a.test")).Status == 403
	})
	if len(s.Lines("a list of rules can be used again")) != 1 {
		t.Error("the end of the failure is not logged")
	}
}

// TestRulesAtAURL checks that a reload fetches the list again. The server keeps the
// last good version if the fetch fails, and while a list that has lost its rules waits
// for confirmation. A reload does not confirm it.
func TestRulesAtAURL(t *testing.T) {
	t.Parallel()
	origin, say := cms(t)
	o := harness.NewOrigin(t, "", nil)
	s := harness.ServeReloadable(t, o)
	loads := 0
	load := func() (int, string) {
		t.Helper()
		loads++
		return s.Load(s.Named("a.test", fmt.Sprintf("robots_txt {\nbase none\ndisallow CCBot\nrules http://%s/rules.json\n}\nheader X-Load %d\n", origin.Address(), loads)))
	}
	read := func() string {
		return harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test")).Body
	}
	for _, step := range []struct {
		status int
		body   string
		want   string // a line of robots.txt
		not    string
		err    string
	}{
		{500, "down", "CCBot", "GPTBot", ""},
		{200, "<html>", "CCBot", "GPTBot", "this is a web page"},
		{200, rule("a", "/a"), "Disallow: /a\n", "Disallow: /b", ""},
		{503, "down", "Disallow: /a\n", "Disallow: /b", ""},
		{200, "null", "Disallow: /a\n", "Disallow: /b", ""},
		{200, rule("a", "/b"), "Disallow: /b\n", "Disallow: /a", ""},
		{200, `{"rules": []}`, "Disallow: /b\n", "Disallow: /a", ""},
		{200, `{"rules": []}`, "Disallow: /b\n", "Disallow: /a", ""},
		{200, `{"rules": [{"id": "x", "for": ["CCBot"], "allow": true}]}`, "CCBot", "Allow", "rule x: CCBot is both allowed and disallowed the whole site"},
	} {
		say(step.status, step.body)
		status, body := load()
		if (status == 200) != (step.err == "") || !strings.Contains(body, step.err) {
			t.Errorf("%d %s: the reload got %d %s", step.status, step.body, status, body)
		}
		if text := read(); !strings.Contains(text, step.want) || strings.Contains(text, step.not) {
			t.Errorf("%d %s: %q", step.status, step.body, text)
		}
	}
}

// TestCheckWithLists checks that managed check and validate load the lists, and report
// the line of a mistake.
func TestCheckWithLists(t *testing.T) {
	t.Parallel()
	origin, say := cms(t)
	directory := harness.Files(t, map[string]string{
		"good.json":  rule("a", "/a"),
		"bad.json":   "{\"rules\": [\n  {\"id\": \"a\", \"fro\": [\"GPTBot\"]}\n]}",
		"twice.json": rule("own", "/b"),
	})
	say(200, rule("b", "b"))
	for _, tc := range []struct {
		list                string
		checked, validated  int
		check, validateSays string
	}{
		{filepath.Join(directory, "good.json"), 0, 0, "no findings", ""},
		{filepath.Join(directory, "bad.json"), 2, 1, `bad.json:2:15: unknown field "fro"; did you mean for?`, `bad.json:2:15: unknown field`},
		{filepath.Join(directory, "none.json"), 2, 1, "none.json: file not found; correct the path, at ", "none.json: file not found; correct the path, at "},
		{filepath.Join(directory, "twice.json"), 2, 1, "twice.json:1: rule own: two rules have this name", "two rules have this name"},
		{"http://" + origin.Address() + "/r.json", 2, 0, `/r.json:1: rule b: path "b" begins with neither`, "its rules are not in force"},
		{"http://127.0.0.1:1/r.json", 2, 0, "connection refused", "cannot be used; the published file stays in force"},
	} {
		file := harness.Caddyfile(t, strings.ReplaceAll("http://a.test {\nrobots_txt {\nbase none\nrule own {\nfor CCBot\ndisallow /own\n}\nrules $LIST\n}\n}\n", "$LIST", tc.list))
		begin := time.Now()
		stdout, stderr, code := harness.Command(t, "", "robots-guard", "managed", "check", "-c", file, "-a", "caddyfile")
		if code != tc.checked || !strings.Contains(stdout+stderr, tc.check) {
			t.Errorf("%s: check exits with %d after %v: %s%s", tc.list, code, time.Since(begin), stdout, stderr)
		}
		_, stderr, code = harness.Command(t, "", "validate", "--config", file)
		if code != tc.validated || !strings.Contains(strings.ReplaceAll(stderr, `\"`, `"`), tc.validateSays) {
			t.Errorf("%s: validate exits with %d: %s", tc.list, code, stderr)
		}
	}
}
