package protocols

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// begun holds the expected responses of the first site of a Caddyfile, served with TLS.
type begun struct {
	path   string // requested path
	GPTBot int    // status for GPTBot, for which robots.txt disallows everything
}

// beginnings are the Caddyfiles with a robots_guard in examples/ and README.md, by file
// and, for several in a file, number.
var beginnings = map[string]begun{
	"Caddyfile.example":                       {"/page", 403},
	"README.md 1":                             {"/page", 200}, // monitor only
	"README.md 2":                             {"/page", 200}, // monitor only
	"README.md 3":                             {"/page", 403},
	"examples/cluster/Caddyfile":              {"/page", 403},
	"examples/compose/Caddyfile":              {"/private/", 402},
	"examples/dashboards/demo/demo.caddyfile": {"/page", 403},
	"examples/deploy/Caddyfile":               {"/page", 200},
	"examples/enforce/Caddyfile":              {"/page", 403},
	"examples/forward/Caddyfile":              {"/", 403},
	"examples/forward/envoy/Caddyfile":        {"/page", 403},
	"examples/managed/Caddyfile":              {"/page", 403},
	"examples/monitor/Caddyfile":              {"/page", 200},
	"examples/paths/Caddyfile":                {"/page", 403},
}

// TestExamplesWithTLS runs these Caddyfiles with host names, as in production. Caddy
// then obtains certificates and adds redirects to HTTPS, which are further routes of
// the servers. The test sends requests as a browser and as a crawler, at the start and
// after a reload.
func TestExamplesWithTLS(t *testing.T) {
	t.Parallel()
	found := caddyfilesToBeginWith(t)
	for name, caddyfile := range found {
		want, known := beginnings[name]
		if !known {
			t.Errorf("%s has no test with TLS", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startWithTLS(t, caddyfile).check(want)
		})
	}
	for name := range beginnings {
		if found[name] == "" {
			t.Errorf("%s is gone", name)
		}
	}
}

// caddyfilesToBeginWith returns the Caddyfiles with a robots_guard, by their names in
// beginnings.
func caddyfilesToBeginWith(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	found := make(map[string]string)
	take := func(name string) string {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	shown := regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```").FindAllStringSubmatch(take("README.md"), -1)
	for i, block := range shown {
		found[fmt.Sprintf("README.md %d", i+1)] = block[1]
	}
	found["Caddyfile.example"] = take("Caddyfile.example")
	err := fs.WalkDir(root, "examples", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(strings.ToLower(name), "caddyfile") {
			if text := take(name); strings.Contains(text, "robots_guard") {
				found[name] = text
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// withTLS is a server whose sites have host names.
type withTLS struct {
	harness.Reloadable
	t             *testing.T
	clear, secure string // ports
	hosts         []string
}

// siteLine matches the line that begins a site, with its addresses.
var siteLine = regexp.MustCompile(`(?m)^([^\s#({][^#\n]*) \{$`)

// startWithTLS starts a Caddyfile. It gives a name to each address without one, and
// runs an application for each upstream.
func startWithTLS(t *testing.T, caddyfile string) *withTLS {
	t.Helper()
	const robots = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n"
	o := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/rules.json" {
			fmt.Fprint(w, `{"rules": []}`)
		}
		return r.URL.Path == "/rules.json"
	}).AnswerSelfTest()
	admin := harness.FreePort(t)
	s := &withTLS{t: t, clear: harness.FreePort(t), secure: harness.FreePort(t)}
	caddyfile = siteLine.ReplaceAllStringFunc(caddyfile, func(line string) string {
		addresses := strings.Split(strings.TrimSuffix(line, " {"), ", ")
		for i, address := range addresses {
			if !strings.HasSuffix(address, ".com") {
				addresses[i] = fmt.Sprintf("site%d.test", len(s.hosts))
			}
			s.hosts = append(s.hosts, addresses[i])
		}
		return strings.Join(addresses, ", ") + " {"
	})
	caddyfile = regexp.MustCompile(`(?m)^\t(admin|persist_config) off\n`).ReplaceAllString(caddyfile, "")
	caddyfile = strings.NewReplacer("app:8080", o.Address(), "127.0.0.1:3000", o.Address(), "127.0.0.1:8090", o.Address(), "$ORIGIN", o.Address(), "$HOST", "127.0.0.1").Replace(caddyfile)
	options := fmt.Sprintf("{\n\tadmin 127.0.0.1:%s\n\tpersist_config off\n\tskip_install_trust\n\tstorage_clean_interval off\n\tlocal_certs\n\thttp_port %s\n\thttps_port %s\n", admin, s.clear, s.secure)
	if before, after, ok := strings.Cut("\n"+caddyfile, "\n{\n"); ok {
		s.Config = before + "\n" + options + after
	} else {
		s.Config = options + "}\n" + caddyfile
	}
	folder := harness.Files(t, map[string]string{"robots.txt": robots, "page": "page"})
	env := []string{"SITE_ROOT=" + folder, "SHARED=" + filepath.Join(folder, "shared"), "DASHBOARD_HASH=$2a$14$PagGKKQXIZPOMWZfR0.Wj.S.Ai23lgrrdTOiRTnzBjFIGempsLydK"}
	s.Admin = admin
	s.Server = harness.Run(t, harness.Caddyfile(t, s.Config), env, "127.0.0.1:"+admin, "127.0.0.1:"+s.clear, "127.0.0.1:"+s.secure)
	return s
}

// check compares the responses with the expected ones, and searches the log for errors.
func (s *withTLS) check(want begun) {
	s.t.Helper()
	s.ask(want)
	s.MustLoad(strings.Replace(s.Config, "\tlocal_certs\n", "\tlocal_certs\n\tgrace_period 5s\n", 1)) // changed, because Caddy does not reload an unchanged configuration
	s.ask(want)
	for line := range strings.Lines(s.Logs.String()) {
		told := strings.Contains(line, `"level":"warn"`) && strings.Contains(line, "robots") && !strings.Contains(line, "request disallowed by robots.txt")
		if told || strings.Contains(line, "panic") || strings.Contains(line, `"level":"error"`) {
			s.t.Errorf("unexpected log line: %s", line)
		}
	}
}

// ask sends a request to each site over http and as a browser, and to the first site as
// a crawler.
func (s *withTLS) ask(want begun) {
	s.t.Helper()
	asProxy := func(r *http.Request) { // fields of a proxy that requests a decision; other sites ignore them
		for name, value := range map[string]string{"Method": "GET", "Proto": "https", "Host": "example.com", "Uri": "/page"} {
			r.Header.Set("X-Forwarded-"+name, value)
		}
	}
	secure := func(host, path, userAgent string) int {
		a, err := harness.Try(harness.Client, "https://"+host+":"+s.secure+path, userAgent, asProxy)
		if err != nil {
			return 0 // there is no certificate yet, or a reload resets the connection
		}
		return a.Status
	}
	for _, host := range s.hosts {
		harness.Eventually(s.t, "a browser gets the page of "+host, func() bool { return secure(host, want.path, harness.Firefox) == 200 })
		if a := harness.Get(s.t, "http://"+host+":"+s.clear+want.path, harness.GPTBot); a.Status != 308 || a.Header.Get("Location") != "https://"+host+want.path {
			s.t.Errorf("%s over http: got %d with Location %q", host, a.Status, a.Header.Get("Location"))
		}
	}
	harness.Eventually(s.t, fmt.Sprintf("the crawler gets %d", want.GPTBot), func() bool { return secure(s.hosts[0], want.path, harness.GPTBot) == want.GPTBot })
	if got := secure(s.hosts[0], "/robots.txt", harness.GPTBot); got != 200 && want.path != "/" {
		s.t.Errorf("the crawler gets %d for robots.txt", got)
	}
}
