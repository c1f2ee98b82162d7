package admin

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// known is the tested part of a policy in the admin API.
type known struct {
	Authority   string  `json:"authority"`
	Source      string  `json:"source"`
	Segment     string  `json:"segment"`
	Status      int     `json:"status"`
	LastMeaning string  `json:"last_meaning"`
	Failures    int     `json:"failures"`
	Version     string  `json:"version"`
	AgeSeconds  float64 `json:"age_seconds"`
	Rules       int     `json:"rules"`
	Findings    int     `json:"findings"`
	Versions    int     `json:"versions"`
	VersionList []struct {
		Version string `json:"version"`
		Rules   int    `json:"rules"`
		Until   string `json:"until"`
	} `json:"version_list"`
}

// refreshed is the response to a refresh.
type refreshed struct {
	known
	Refresh struct {
		Outcome     string `json:"outcome"`
		Why         string `json:"why"`
		RulesBefore int    `json:"rules_before"`
	} `json:"refresh"`
}

// overseen is a server with an admin endpoint and two sites. One site proxies its
// robots.txt from an origin, and the other site serves a file.
type overseen struct {
	*harness.Server
	t      *testing.T
	origin *harness.Origin
	robots *atomic.Value // robots.txt of the origin
	admin  string        // host:port
	site   string        // authority of the site with the origin
	file   string
	shop   string // URL of the site with the file
}

func oversee(t *testing.T) *overseen {
	t.Helper()
	admin, port, shop := harness.FreePort(t), harness.FreePort(t), harness.FreePort(t)
	o := &overseen{t: t, admin: "127.0.0.1:" + admin, site: "a.test:" + port, shop: "http://127.0.0.1:" + shop}
	o.origin, o.robots = harness.NewChangingOrigin(t, "User-agent: *\nDisallow: /private/\nNonsense: x\n")
	o.file = filepath.Join(harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /old/\n"}), "robots.txt")
	o.Server = harness.Start(t, strings.NewReplacer("$ADMIN", o.admin, "$PORT", port, "$SHOP", shop, "$ORIGIN", o.origin.Address(), "$FILE", o.file).Replace(`{
		admin $ADMIN
		persist_config off
	}
	http://a.test:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}
	http://127.0.0.1:$SHOP {
		robots_guard enforce {
			source file $FILE
		}
		respond ok
	}`), o.admin, "127.0.0.1:"+port, "127.0.0.1:"+shop)
	o.Port = port
	harness.Eventually(t, "the site's robots.txt is enforced", func() bool {
		return harness.Get(t, o.URL("/private/x"), harness.Bingbot).Status == http.StatusForbidden
	})
	harness.Eventually(t, "the file is enforced", func() bool { return harness.Get(t, o.shop+"/old/x", harness.Bingbot).Status == http.StatusForbidden })
	return o
}

// ask sends a request to the admin API and decodes the response.
func (o *overseen) ask(name, path string, status int, into any) {
	o.t.Helper()
	a := harness.Get(o.t, "http://"+o.admin+path, "test", harness.Method(name))
	if a.Status != status {
		o.t.Fatalf("%s %s: %d, want %d: %s", name, path, a.Status, status, a.Body)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		o.t.Fatalf("%s %s: %v: %s", name, path, err, a.Body)
	}
}

func TestPoliciesAreListed(t *testing.T) {
	t.Parallel()
	o := oversee(t)
	var all struct {
		Policies []known `json:"policies"`
		Total    int     `json:"total"`
		Next     string  `json:"next"`
	}
	o.ask(http.MethodGet, "/robots_guard/policies", http.StatusOK, &all)
	if all.Total != 2 || len(all.Policies) != 2 || all.Next != "" {
		t.Fatalf("%+v", all)
	}
	file, site := all.Policies[0], all.Policies[1]
	if file.Authority != o.file || file.Source != "file" || file.Status != 200 || file.Rules != 1 || file.Versions != 1 {
		t.Errorf("the file: %+v", file)
	}
	if site.Authority != "http://"+o.site || site.Source != "server" || site.Segment != "named" || site.LastMeaning != "rules" ||
		site.Findings != 1 || len(site.Version) != 64 || site.AgeSeconds < 0 || site.AgeSeconds > 60 {
		t.Errorf("the site: %+v", site)
	}
	o.ask(http.MethodGet, "/robots_guard/policies?limit=0", http.StatusBadRequest, nil)
	o.ask(http.MethodGet, "/robots_guard/policies?limit=many", http.StatusBadRequest, nil)
}

func TestRefreshPolicies(t *testing.T) {
	t.Parallel()
	o := oversee(t)
	before := o.origin.Requests("/robots.txt")
	var read refreshed
	o.ask(http.MethodPost, "/robots_guard/policies/"+o.site+"/refresh", http.StatusOK, &read)
	if got := o.origin.Requests("/robots.txt"); got != before+1 || read.Refresh.Outcome != "unchanged" {
		t.Errorf("the site's robots.txt was fetched %d times: %+v", got-before, read)
	}
	o.robots.Store("User-agent: *\nDisallow: /private/\nDisallow: /more/\n")
	o.ask(http.MethodPost, "/robots_guard/policies/"+o.site+"/refresh", http.StatusOK, &read)
	if read.Refresh.Outcome != "changed" || read.Refresh.RulesBefore != 1 || read.Rules != 2 {
		t.Errorf("the site's new robots.txt: %+v", read)
	}

	if err := os.WriteFile(o.file, []byte("User-agent: *\nDisallow: /old/\nDisallow: /new/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p refreshed
	o.ask(http.MethodPost, "/robots_guard/policies"+filepath.ToSlash(o.file)+"/refresh", http.StatusOK, &p)
	if p.Refresh.Outcome != "changed" || p.Rules != 2 || len(p.VersionList) != 2 || p.VersionList[1].Rules != 1 || p.VersionList[1].Until == "" {
		t.Errorf("the file: %+v", p)
	}
	o.Await("robots.txt changed", 1)
	if a := harness.Get(t, o.shop+"/new/x", harness.Bingbot); a.Status != http.StatusOK {
		t.Errorf("%d for a URL that only the new robots.txt disallows, want it stale", a.Status)
	}
	if a := harness.Get(t, o.shop+"/old/x", harness.Bingbot); a.Status != http.StatusForbidden {
		t.Errorf("%d for a URL that both robots.txt disallow", a.Status)
	}
}

func TestStatusCommand(t *testing.T) {
	t.Parallel()
	o := oversee(t)
	run := func(code int, args ...string) string {
		t.Helper()
		stdout, stderr, got := harness.Command(t, "", append([]string{"robots-guard", "status", "--address", o.admin}, args...)...)
		if got != code {
			t.Fatalf("%v: exit status %d, want %d: %s", args, got, code, stderr)
		}
		return stdout + stderr
	}
	table := strings.Join(strings.Fields(run(0)), " ")
	for _, want := range []string{"SITE MODE ROBOTS.TXT OF STATUS RULES NOTE", "enforce http://" + o.site + " 200 1", "enforce " + o.file + " 200 1"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	for _, name := range []string{o.site, "http://" + o.site} {
		var one struct {
			Sites []struct {
				Robots struct{ Authority string }
			}
		}
		if err := json.Unmarshal([]byte(run(0, "--json", name)), &one); err != nil || len(one.Sites) != 1 || one.Sites[0].Robots.Authority != "http://"+o.site {
			t.Errorf("%s: %v, %+v", name, err, one)
		}
	}
	for _, args := range [][]string{{"--refresh", o.site}, {"--refresh"}} {
		if text := strings.Join(strings.Fields(run(0, args...)), " "); !strings.Contains(text, "http://"+o.site+" unchanged 200 1") {
			t.Errorf("%v: %s", args, text)
		}
	}
	o.origin.GoDown()
	if text := strings.Join(strings.Fields(run(1, "--refresh")), " "); !strings.Contains(text, "http://"+o.site+" failed 200 1 the connection broke off") ||
		!strings.Contains(text, "the last good copy is in use") || !strings.Contains(text, o.file+" unchanged") {
		t.Errorf("a site that fails: %s", text)
	}
	if text := run(2, "b.test"); !strings.Contains(text, "this server has no robots_guard for") {
		t.Errorf("an unknown site: %s", text)
	}
	if text := run(2, "--refresh", "b.test"); !strings.Contains(text, "there is no policy") {
		t.Errorf("a refresh of an unknown authority: %s", text)
	}
}
