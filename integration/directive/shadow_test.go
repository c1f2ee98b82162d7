package directive

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const shadowMetric = "caddy_robots_guard_shadow_requests_total"

// tried is the tested part of the command's output.
type tried struct {
	Texts []struct {
		From, Version, Error string
	}
	Trials []struct {
		Site, From     string
		Requests       int
		NewlyForbidden int `json:"newly_forbidden"`
		NewlyAllowed   int `json:"newly_allowed"`
		Crawlers       []struct {
			Token string
			Pages []struct {
				Path, Difference string
				Would            struct{ Line int }
			}
		}
	}
}

// triedAt returns the trials of a server.
func triedAt(t *testing.T, admin string) (found tried) {
	t.Helper()
	if err := json.Unmarshal([]byte(harness.Get(t, "http://127.0.0.1:"+admin+"/robots_guard/shadow", "test").Body), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestShadow tries a robots.txt that disallows the whole site. Responses do not change,
// and the owner sees which crawlers it would block. An edit restarts the trial, a
// reload does not.
func TestShadow(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	s := harness.ServeReloadable(t, o)
	dir := harness.Files(t, map[string]string{"next.txt": "User-agent: *\nDisallow: /\n"})
	next := filepath.Join(dir, "next.txt")
	load := func(name string) {
		t.Helper()
		s.MustLoad(strings.Replace(s.Named(name, ""), "robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n shadow file "+next+"\n}", 1))
	}
	load("first")
	s.Warm("/private/")
	before := s.Metrics().Sum(shadowMetric) // includes the requests of Warm
	harness.Visits(t, s.Server, []harness.Visit{
		{harness.Bingbot, "/shop/1", 200, "origin /shop/1"},
		{harness.Bingbot, "/shop/1", 200, "origin /shop/1"},
		{harness.GPTBot, "/private/x", 403, "Disallow: /private/ (line 2"},
		{harness.Firefox, "/shop/1", 200, "origin /shop/1"},
	})
	out, problem, code := harness.Command(t, "", "robots-guard", "status", "--address", "127.0.0.1:"+s.Admin)
	if !strings.Contains(out, "newly disallowed 2, newly allowed 0") || code != 1 {
		t.Errorf("exit status %d: %s%s", code, out, problem)
	}
	found := triedAt(t, s.Admin)
	if code != 1 || len(found.Texts) != 1 || found.Texts[0].From != next || len(found.Trials) != 1 {
		t.Fatalf("exit status %d: %+v", code, found)
	}
	trial := found.Trials[0]
	if trial.NewlyForbidden != 2 || trial.NewlyAllowed != 0 || trial.Crawlers[0].Token != "bingbot" || len(trial.Crawlers[0].Pages) != 1 {
		t.Fatalf("the trial is %+v", trial)
	}
	if page := trial.Crawlers[0].Pages[0]; page.Path != "/shop/1" || page.Difference != "newly_forbidden" || page.Would.Line != 2 {
		t.Errorf("the page is %+v", page)
	}
	counts := s.Metrics()
	if n := counts.Sum(shadowMetric) - before; n != 3 {
		t.Errorf("%v requests are counted, want 3", n)
	}
	if n := counts.Sum(shadowMetric, `difference="newly_forbidden"`); n != 2 {
		t.Errorf("%v requests are newly disallowed, want 2", n)
	}

	load("second")
	if found := triedAt(t, s.Admin); len(found.Trials) != 1 || found.Trials[0].NewlyForbidden != 2 {
		t.Errorf("after a reload: %+v", found)
	}
	harness.Write(t, next, "User-agent: *\nDisallow: /none/\n")
	harness.Eventually(t, "the edit is tried", func() bool {
		harness.Get(t, s.URL("/shop/1"), harness.Bingbot)
		found := triedAt(t, s.Admin)
		return len(found.Trials) == 1 && found.Trials[0].NewlyForbidden == 0 && found.Trials[0].Requests > 0
	})
	s.MustLoad(s.Named("third", ""))
	harness.Eventually(t, "the trial has ended", func() bool {
		found := triedAt(t, s.Admin)
		return len(found.Texts)+len(found.Trials) == 0
	})
}
