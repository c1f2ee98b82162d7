package served

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// obedient is a crawler that obeys the robots.txt that it was served. The pages are in
// directories with one letter.
type obedient struct {
	t         *testing.T
	s         *harness.Server
	userAgent string
	forbidden []string
}

// reads fetches robots.txt.
func (c *obedient) reads(change ...func(*http.Request)) {
	c.t.Helper()
	c.forbidden = nil
	for line := range strings.Lines(harness.Get(c.t, c.s.URL("/robots.txt"), c.userAgent, change...).Body) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "Disallow: "); ok {
			c.forbidden = append(c.forbidden, path)
		}
	}
}

func (c *obedient) may(path string) bool {
	for _, prefix := range c.forbidden {
		if strings.HasPrefix(path, prefix) {
			return false
		}
	}
	return true
}

// takingTurns serves /a/ and /b/ and two robots.txt files, each of which disallows one
// of them. first selects the file.
func takingTurns(t *testing.T, first func(*http.Request) bool) *harness.Origin {
	t.Helper()
	return harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case !strings.HasPrefix(r.URL.Path, "/robots"):
			fmt.Fprint(w, "page")
		case first(r):
			fmt.Fprint(w, "User-agent: *\nDisallow: /a/\nDisallow: /never/\n")
		default:
			fmt.Fprint(w, "User-agent: *\nDisallow: /b/\nDisallow: /never/\n")
		}
		return true
	})
}

// TestSeveralFiles tests a site with two robots.txt files. Crawlers that obey their
// file are never blocked. Pages that both files disallow are blocked. If a crawler is
// served the same file as the guard, the pages that it disallows are blocked.
func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	var turn atomic.Int64
	const site = "robots_guard enforce {\n fetch_wait 5s\n }\n reverse_proxy $ORIGIN"
	const rewritten = "route {\n @google {\n path /robots.txt\n header User-Agent *Googlebot*\n }\n rewrite @google /robots-google.txt\n " + site + "\n }"
	for _, tc := range []struct {
		name  string
		first func(*http.Request) bool
		site  string
		other string // User-Agent that is served a different file than the guard; "" if any may be
	}{
		{"two upstreams alternate", func(*http.Request) bool { return turn.Add(1)%2 == 0 }, site, ""},
		{"by User-Agent", func(r *http.Request) bool { return strings.Contains(r.UserAgent(), "Googlebot") }, site, harness.Googlebot},
		{"by User-Agent, reversed", func(r *http.Request) bool { return !strings.Contains(r.UserAgent(), "Googlebot") }, site, harness.Googlebot},
		{"by User-Agent, behind another Host", func(r *http.Request) bool { return strings.Contains(r.UserAgent(), "Googlebot") }, "request_header Host backend.internal\n " + site, harness.Googlebot},
		{"by a rewrite before the guard", func(r *http.Request) bool { return r.URL.Path == "/robots-google.txt" }, rewritten, harness.Googlebot},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "http://a.test:$PORT {\n "+tc.site+"\n}", "$ORIGIN", takingTurns(t, tc.first).Address())
			blocked, obeyed, passed, broken := 0, 0, 0, 0
			for _, userAgent := range []string{harness.Googlebot, harness.Bingbot, harness.GPTBot, harness.FooBot} {
				c := &obedient{t: t, s: s, userAgent: userAgent}
				for round := range 10 {
					c.reads()
					for page := range 8 {
						path := fmt.Sprintf("/%c/%d-%d", 'a'+page%3, round, page)
						a := harness.Get(t, s.URL(path), userAgent)
						switch {
						case c.may(path):
							if obeyed++; a.Status != 200 {
								blocked++
							}
						case tc.other != "" && tc.other != userAgent:
							if broken++; a.Status != 403 {
								passed++
							}
						}
					}
					if a := harness.Get(t, s.URL("/never/x"), userAgent); a.Status != 403 {
						t.Errorf("%s got %d for a page that both files disallow", userAgent, a.Status)
					}
				}
			}
			if blocked > 0 || passed > 0 {
				t.Errorf("%d of %d requests of obedient crawlers were blocked; %d of %d requests that the served file disallows passed", blocked, obeyed, passed, broken)
			}
		})
	}
}

// TestNewHostsAtOnce sends concurrent requests for many hosts of a wildcard site. Each
// host has its own file.
func TestNewHostsAtOnce(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprintf(w, "# %s\nUser-agent: *\nDisallow: /private/\n", r.Host)
		}
		return r.URL.Path == "/robots.txt"
	})
	s := harness.Serve(t, "http://*.tenants.test:$PORT {\n robots_guard enforce {\n fetch_wait 5s\n }\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	var all sync.WaitGroup
	for client := range 40 {
		all.Go(func() {
			for i := range 5 {
				if a := harness.Get(t, s.URL(fmt.Sprintf("http://t%d-%d.tenants.test/private/x", client, i)), harness.GPTBot); a.Status != 403 {
					t.Errorf("a new host among forty got %d", a.Status)
				}
			}
		})
	}
	all.Wait()
}

// TestCompressedFiles tests a site that compresses its robots.txt and serves a
// different file to Googlebot. The guard decodes the responses to crawlers and
// recognizes the same file.
func TestCompressedFiles(t *testing.T) {
	t.Parallel()
	o := takingTurns(t, func(r *http.Request) bool { return strings.Contains(r.UserAgent(), "Googlebot") })
	root := harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /b/\n", "robots.txt.gz": gzipped(t, "User-agent: *\nDisallow: /b/\n"), "b/x": "page"})
	for _, tc := range []struct {
		name, site string
		google     int
	}{
		{"encode gzip", "encode {\n gzip\n minimum_length 1\n }\n reverse_proxy $ORIGIN", 200},
		{"encode zstd", "encode {\n zstd\n minimum_length 1\n }\n reverse_proxy $ORIGIN", 200},
		{"precompressed", "root $ROOT\n file_server {\n precompressed gzip\n }", 403},
	} {
		s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n "+tc.site+"\n}", "$ORIGIN", o.Address(), "$ROOT", root)
		s.Warm("/")
		for userAgent, want := range map[string]int{harness.Googlebot: tc.google, harness.Bingbot: 403} {
			harness.Get(t, s.URL("/robots.txt"), userAgent, harness.Header("Accept-Encoding", "gzip, zstd"))
			if a := harness.Get(t, s.URL("/b/x"), userAgent); a.Status != want {
				t.Errorf("%s: %s got %d, want %d", tc.name, userAgent, a.Status, want)
			}
		}
	}
}

// TestRefusedToTheGuard tests a firewall before the guard that blocks the guard's own
// request but not clients. Nothing is enforced, and the log reports it.
func TestRefusedToTheGuard(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, refusal, told string }{
		{"403", "respond @self 403", "the site refuses robots.txt to the guard and serves it to clients; nothing is enforced"},
		{"401", "respond @self 401", "the site refuses robots.txt to the guard and serves it to clients; nothing is enforced"},
		{"429", "respond @self 429", "self-test: robots.txt is refused"},
		{"the connection is closed", "abort @self", "self-test: the connection is closed without a response to the request for robots.txt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, harness.ClosedRobots, nil)
			s := harness.Serve(t, "http://a.test:$PORT {\n @self remote_ip 192.0.2.1\n route {\n "+tc.refusal+"\n robots_guard enforce\n reverse_proxy $ORIGIN\n }\n}", "$ORIGIN", o.Address())
			harness.Visits(t, s, []harness.Visit{
				{harness.GPTBot, "/private/x", 200, ""},
				{harness.Bingbot, "/robots.txt", 200, harness.ClosedRobots},
				{harness.Bingbot, "/private/x", 200, ""},
				{harness.GPTBot, "/private/x", 200, ""},
			})
			if told := s.Await(tc.told, 1); len(told) == 0 || told[0]["level"] != "warn" {
				t.Errorf("warnings: %v", told)
			}
		})
	}
}

// gzipped returns a text in gzip format.
func gzipped(t *testing.T, text string) string {
	t.Helper()
	var packed strings.Builder
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}
