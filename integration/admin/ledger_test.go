package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/integration/harness/console"
)

// reported is a server with an admin endpoint for requests to the ledger.
type reported struct {
	*harness.Server
	t     *testing.T
	admin string // host:port
}

const reportedSite = `http://example.com:$PORT, http://a.test:$PORT {
	robots_guard enforce {
		fetch_timeout 20s
		fetch_wait 20s
	}
	handle /robots.txt {
		respond "User-agent: *
Disallow: /private/

User-agent: GPTBot
Disallow: /
"
	}
	respond ok
}`

// reporting runs a server. Two servers with the same home are the same instance, which
// has restarted.
func reporting(t *testing.T, home, options string) *reported {
	t.Helper()
	port, admin := harness.FreePort(t), harness.FreePort(t)
	text := strings.NewReplacer("$ADMIN", admin, "$PORT", port, "$OPTIONS", options).Replace(`{
		admin 127.0.0.1:$ADMIN
		persist_config off
		$OPTIONS
	}
	` + reportedSite)
	r := &reported{t: t, admin: "127.0.0.1:" + admin}
	r.Server = harness.Run(t, harness.Caddyfile(t, text), []string{"XDG_DATA_HOME=" + home}, "127.0.0.1:"+port, r.admin)
	r.Port = port
	harness.Eventually(t, "the robots.txt is enforced", func() bool {
		return harness.Get(t, r.URL("/private/x"), harness.Googlebot).Status == http.StatusForbidden
	})
	return r
}

// ask gets a path of the admin API.
func (r *reported) ask(path string, into any) {
	r.t.Helper()
	a := harness.Get(r.t, "http://"+r.admin+path, "test")
	if a.Status != http.StatusOK {
		r.t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
}

// crawl sends the requests in the examples of the documentation: GPTBot fetches
// robots.txt and three pages, bingbot fetches one page.
func (r *reported) crawl() {
	r.t.Helper()
	for _, v := range []struct {
		path, userAgent string
		status          int
	}{
		{"http://example.com/", harness.Bingbot, 200},
		{"http://example.com/robots.txt", harness.GPTBot, 200},
		{"http://example.com/articles/3", harness.GPTBot, 403},
		{"http://example.com/articles/2", harness.GPTBot, 403},
		{"http://example.com/articles/1", harness.GPTBot, 403},
		{"http://example.com/articles/1", harness.Firefox, 200},
	} {
		if a := harness.Get(r.t, r.URL(v.path), v.userAgent); a.Status != v.status {
			r.t.Fatalf("%s as %s: %d, want %d", v.path, v.userAgent, a.Status, v.status)
		}
	}
}

// counted are the counts that every view contains.
type counted struct {
	Requests   int `json:"requests"`
	Allowed    int `json:"allowed"`
	Disallowed int `json:"disallowed"`
	Blocked    int `json:"blocked"`
}

// TestAdminDocument runs the commands of docs/admin.md and compares their output with
// the documented output.
func TestAdminDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/admin.md")
	if err != nil {
		t.Fatal(err)
	}
	r := reporting(t, t.TempDir(), "")
	r.crawl()
	ran := 0
	for _, step := range console.Steps(string(text)) {
		args, pattern, err := console.Words(step.Command)
		if err != nil || len(args) != 3 || args[0] != "curl" || args[1] != "-s" || !strings.HasPrefix(args[2], "http://localhost:2019") {
			t.Errorf("admin.md:%d: this test cannot parse %s: %v", step.Line, step.Command, err)
			continue
		}
		url := strings.TrimPrefix(args[2], "http://localhost:2019")
		// The site a.test serves only to wait for the start of the guard.
		separator := "?"
		if strings.Contains(url, "?") {
			separator = "&"
		}
		got := harness.Get(t, "http://"+r.admin+url+separator+"site=example.com", "test").Body
		got = regexp.MustCompile(`(?m)^ *"site": "example.com",\n`).ReplaceAllStringFunc(got, func(line string) string {
			if strings.HasPrefix(line, "    \"") {
				return "" // the site filter
			}
			return line
		})
		if pattern != nil {
			var kept strings.Builder
			for line := range strings.Lines(got) {
				if pattern.MatchString(line) {
					kept.WriteString(line)
				}
			}
			got = kept.String()
		}
		ran++
		if !console.Same(step.Output, got) {
			t.Errorf("admin.md:%d: $ %s\n--- documented\n%s\n--- got\n%s", step.Line, step.Command, step.Output, got)
		}
	}
	if ran < 1 {
		t.Error("no command of admin.md ran")
	}
}

// TestLedgerSurvives checks that the counts survive a reload and, with storage, a
// restart.
func TestLedgerSurvives(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	harness.NameInstance(t, home, "00000000-0000-4000-8000-000000000001")
	options := fmt.Sprintf("storage file_system %s\nrobots_guard {\nstorage on\n}", filepath.Join(home, "store"))
	count := func(r *reported) (sum counted) {
		r.ask("/robots_guard/summary?site=example.com", &sum)
		return sum
	}
	want := counted{Requests: 5, Allowed: 2, Disallowed: 3, Blocked: 3}

	first := reporting(t, home, options)
	first.crawl()
	if got := count(first); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	config := harness.Get(t, "http://"+first.admin+"/config/", "test").Body
	load, err := http.NewRequest(http.MethodPost, "http://"+first.admin+"/load", strings.NewReader(config))
	if err != nil {
		t.Fatal(err)
	}
	load.Header.Set("Content-Type", "application/json")
	load.Header.Set("Cache-Control", "must-revalidate") // makes Caddy reload an unchanged configuration
	client := &http.Client{Timeout: 60 * time.Second}
	answer, err := client.Do(load)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("reload: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	harness.Eventually(t, "the admin API answers after the reload", func() bool {
		return harness.Get(t, "http://"+first.admin+"/robots_guard/summary", "test").Status == http.StatusOK
	})
	if got := count(first); got != want {
		t.Errorf("after a reload: %+v, want %+v", got, want)
	}
	first.Stop()

	again := reporting(t, home, options)
	harness.Eventually(t, "the ledger is restored", func() bool { return count(again) == want })
	again.crawl()
	if got := count(again); got != (counted{Requests: 10, Allowed: 4, Disallowed: 6, Blocked: 6}) {
		t.Errorf("after a restart and more requests: %+v", got)
	}
}
