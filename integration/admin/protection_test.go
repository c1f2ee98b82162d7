package admin

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	began = "not protecting: the site is in enforce, but its robots.txt restricts no crawler"
	ended = "protecting again: the robots.txt has rules"
)

// TestNotProtecting checks that the log, reports, policies and metrics state for each
// site in enforce why its robots.txt disallows nothing.
func TestNotProtecting(t *testing.T) {
	t.Parallel()
	admin, port, metrics := harness.FreePort(t), harness.FreePort(t), harness.FreePort(t)
	root := harness.Files(t, map[string]string{"index.html": "<!DOCTYPE html>\n<title>an app</title>\n"})
	s := harness.Start(t, strings.NewReplacer("$ADMIN", admin, "$METRICS", metrics, "$PORT", port, "$ROOT", root).Replace(`{
		admin 127.0.0.1:$ADMIN
		persist_config off
	}
	http://127.0.0.1:$METRICS {
		metrics /metrics
	}
	http://refused.test:$PORT {
		robots_guard enforce
		respond /robots.txt "User-agent: *
Disallow: /" 403
		respond ok
	}
	http://missing.test:$PORT {
		robots_guard enforce
		root $ROOT
		file_server
	}
	http://app.test:$PORT {
		robots_guard enforce
		root $ROOT
		try_files {path} /index.html
		file_server
	}
	http://empty.test:$PORT {
		robots_guard enforce
		respond ""
	}
	http://open.test:$PORT {
		robots_guard enforce
		respond "User-agent: *
Disallow:"
	}
	http://closed.test:$PORT {
		robots_guard enforce
		respond "User-agent: *
Disallow: /private/"
	}
	http://monitored.test:$PORT {
		robots_guard
		respond /robots.txt 404
		respond ok
	}`), "127.0.0.1:"+admin, "127.0.0.1:"+metrics, "127.0.0.1:"+port)
	s.Port, s.MetricsPort = port, metrics
	want := map[string]string{"refused": "refused", "missing": "missing", "app": "web_page", "empty": "empty", "open": "no_rules", "closed": "", "monitored": ""}
	for name := range want {
		s.WarmURL(s.URL("http://" + name + ".test/"))
	}

	type notProtecting struct{ Cause, Detail, Cure string }
	o := &overseen{t: t, admin: "127.0.0.1:" + admin}
	var summary struct {
		Sites []struct {
			Site   string `json:"site"`
			Robots struct {
				State         string         `json:"state"`
				NotProtecting *notProtecting `json:"not_protecting"`
			} `json:"robots"`
		} `json:"sites_now"`
	}
	o.ask(http.MethodGet, "/robots_guard/summary", http.StatusOK, &summary)
	if len(summary.Sites) != len(want) {
		t.Errorf("%d sites, want %d", len(summary.Sites), len(want))
	}
	lines := s.Await(began, 5)
	samples := s.Metrics()
	for _, site := range summary.Sites {
		name := strings.TrimSuffix(site.Site, ".test")
		cause := want[name]
		if got := site.Robots.NotProtecting; (got == nil) != (cause == "") || got != nil && (got.Cause != cause || got.Detail == "" || got.Cure == "") {
			t.Errorf("%s: %+v, want %q", name, got, cause)
		}
		if is := site.Robots.State == "not_protecting"; is != (cause != "") {
			t.Errorf("%s: the state is %s", name, site.Robots.State)
		}
		var policy struct {
			NotProtecting *notProtecting `json:"not_protecting"`
		}
		o.ask(http.MethodGet, "/robots_guard/policies/"+site.Site+":"+port, http.StatusOK, &policy)
		if got := policy.NotProtecting; (got == nil) != (cause == "") || got != nil && *got != *site.Robots.NotProtecting {
			t.Errorf("%s in policies: %+v, in the summary %+v", name, got, site.Robots.NotProtecting)
		}
		told := slices.IndexFunc(lines, func(line map[string]any) bool { return strings.Contains(line["site"].(string), site.Site) })
		if (told < 0) != (cause == "") || told >= 0 && (lines[told]["cause"] != cause || lines[told]["cure"] == "" || lines[told]["level"] != "warn") {
			t.Errorf("%s: log lines %v", name, lines)
		}
		if n := samples.Sum("caddy_robots_guard_not_protecting", `host="`+site.Site+`"`, `cause="`+cause+`"`); (n == 1) != (cause != "") {
			t.Errorf("%s: metric %v", name, n)
		}
	}
	table, _, _ := harness.Command(t, "", "robots-guard", "status", "--address", o.admin)
	if n := strings.Count(table, "nothing is protected: "); n != 5 || !strings.Contains(table, "nothing is protected: the answer is a web page; serve a text file at /robots.txt") {
		t.Errorf("the command lists %d sites:\n%s", n, table)
	}
}

// TestNotProtectingGoesWithTheSite removes the site from the configuration.
func TestNotProtectingGoesWithTheSite(t *testing.T) {
	t.Parallel()
	origin, _ := harness.NewChangingOrigin(t, "<!DOCTYPE html>\n<title>an app</title>\n")
	s := harness.ServeReloadable(t, origin)
	s.Warm("/")
	s.Await(began, 1)
	s.MustLoad(strings.ReplaceAll(s.Named("second", ""), "a.test", "b.test"))
	harness.Eventually(t, "nothing is told of the site", func() bool {
		for name := range s.Metrics() {
			if strings.Contains(name, `host="a.test"`) {
				return false
			}
		}
		return true
	})
}
