package served

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// obedient is a crawler that reads the robots.txt of a site and keeps to what it
// was served, whatever that was. Pages stand in directories with one letter.
type obedient struct {
	t         *testing.T
	s         *harness.Server
	userAgent string
	forbidden []string
}

// reads reads the robots.txt.
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

// takingTurns serves /a/ and /b/ and two robots.txt, each of which forbids one of
// them, by turns or by User-Agent.
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

// TestACrawlerIsHeldToWhatItWasServed lets obedient and disobedient crawlers read
// a robots.txt of which there are two. No obedient one is blocked, and what a
// crawler was served it may not break.
func TestACrawlerIsHeldToWhatItWasServed(t *testing.T) {
	t.Parallel()
	var turn atomic.Int64
	const site = "robots_guard enforce\n reverse_proxy $ORIGIN"
	const rewritten = "route {\n @google {\n path /robots.txt\n header User-Agent *Googlebot*\n }\n rewrite @google /robots-google.txt\n " + site + "\n }"
	for _, tc := range []struct {
		name  string
		first func(*http.Request) bool
		site  string
	}{
		{"two upstreams take turns", func(*http.Request) bool { return turn.Add(1)%2 == 0 }, site},
		{"by User-Agent", func(r *http.Request) bool { return strings.Contains(r.UserAgent(), "Googlebot") }, site},
		{"by User-Agent, the other way", func(r *http.Request) bool { return !strings.Contains(r.UserAgent(), "Googlebot") }, site},
		{"by a rewrite before the guard", func(r *http.Request) bool { return r.URL.Path == "/robots-google.txt" }, rewritten},
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
						default:
							if broken++; a.Status != 403 {
								passed++
							}
						}
					}
					if a := harness.Get(t, s.URL("/never/x"), userAgent); a.Status != 403 {
						t.Errorf("what both texts forbid %s got with %d", userAgent, a.Status)
					}
				}
			}
			if blocked > 0 || passed > 0 {
				t.Errorf("%d of %d requests of obedient crawlers were blocked; %d of %d against the text that was served passed", blocked, obeyed, passed, broken)
			}
		})
	}
}

// TestNobodyEarnsAMilderText reads the robots.txt in ways that bring about another
// text than crawlers are served, and asks for what is forbidden. That counts for
// nobody: not for who asks so, and not for others in a burst behind it.
func TestNobodyEarnsAMilderText(t *testing.T) {
	t.Parallel()
	const mild = "User-agent: *\nDisallow: /nothing/\n"
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		earned := r.Header.Get("X-Original-Url") != "" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" ||
			strings.HasPrefix(r.Header.Get("Accept-Language"), "xx") || r.Header.Get("Accept-Encoding") == "br" ||
			r.Header.Get("Range") != "" || r.Header.Get("Referer") != "" || r.URL.RawQuery != "" || !strings.HasPrefix(r.Host, "a.test") ||
			r.Header.Get("X-Forwarded-Host") == "mild.test" || r.Header.Get("From") != "" || r.Header.Get("Accept") == "text/mild"
		if r.URL.Path == "/robots.txt" && earned {
			w.Header().Set("Etag", fmt.Sprintf("%q", r.RequestURI+r.Host))
			fmt.Fprint(w, mild)
			return true
		}
		return false
	})
	s := harness.Serve(t, "http://a.test:$PORT, http://:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	s.Warm("/")
	time.Sleep(10500 * time.Millisecond) // until an answer that differs makes the copy due again
	for _, tc := range []struct {
		name   string
		change func(*http.Request)
	}{
		{"X-Original-URL", harness.Header("X-Original-URL", "/mild.txt")},
		{"Cookie", harness.Header("Cookie", "session=1")},
		{"Authorization", harness.Header("Authorization", "Basic eDp5")},
		{"Accept-Language", harness.Header("Accept-Language", "xx")},
		{"Accept-Encoding", harness.Header("Accept-Encoding", "br")},
		{"Accept", harness.Header("Accept", "text/mild")},
		{"Range", harness.Header("Range", "bytes=0-")},
		{"Referer", harness.Header("Referer", "http://mild.test/")},
		{"From", harness.Header("From", "mild@mild.test")},
		{"a query", func(r *http.Request) { r.URL.RawQuery = "mild" }},
		{"another spelling of the host", harness.Host("A.TEST")},
		{"another port", harness.Host("a.test:1")},
	} {
		if read := harness.Get(t, s.URL("/robots.txt"), harness.GPTBot, tc.change); read.Status != 200 {
			t.Fatalf("%s: robots.txt was answered with %d", tc.name, read.Status)
		}
		for _, userAgent := range []string{harness.GPTBot, harness.Bingbot, harness.GPTBot} {
			for range 10 {
				if a := harness.Get(t, s.URL("/private/x"), userAgent); a.Status != 403 {
					t.Errorf("after a reading with %s, %s got %d", tc.name, userAgent, a.Status)
				}
			}
		}
	}
}

// TestPrecompressedOpensNothing has a file_server with another entity tag for each
// content coding.
func TestPrecompressedOpensNothing(t *testing.T) {
	t.Parallel()
	root := harness.Files(t, map[string]string{"robots.txt": harness.ClosedRobots, "robots.txt.gz": gzipped(t, harness.ClosedRobots), "private/x": "secret", "x": "page"})
	s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n root $ROOT\n file_server {\n precompressed gzip\n }\n}", "$ROOT", root)
	s.Warm("/x")
	time.Sleep(10500 * time.Millisecond) // until an answer that differs makes the copy due again
	for range 5 {
		if read := harness.Get(t, s.URL("/robots.txt"), harness.Bingbot, harness.Header("Accept-Encoding", "gzip")); read.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("robots.txt came with Content-Encoding %q", read.Header.Get("Content-Encoding"))
		}
		for range 20 {
			if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != 403 {
				t.Fatalf("after a compressed reading a forbidden page got %d", a.Status)
			}
		}
	}
}

// TestCompressedReadings lets crawlers read each of two texts in a coding.
func TestCompressedReadings(t *testing.T) {
	t.Parallel()
	o := takingTurns(t, func(r *http.Request) bool { return strings.Contains(r.UserAgent(), "Googlebot") })
	for _, coding := range []string{"gzip", "zstd"} {
		s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n encode {\n "+coding+"\n minimum_length 1\n }\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
		harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Header("Accept-Encoding", coding))
		for path, want := range map[string]int{"/a/x": 403, "/b/x": 200} {
			if a := harness.Get(t, s.URL(path), harness.Googlebot); a.Status != want {
				t.Errorf("after a reading with %s, %s got %d, want %d", coding, path, a.Status, want)
			}
		}
	}
}

// TestWhatCrawlersGet has a firewall before the guard that refuses the guard's own
// request, and lets clients through.
func TestWhatCrawlersGet(t *testing.T) {
	t.Parallel()
	ask := func(s *harness.Server, path, userAgent string) harness.Answer {
		t.Helper()
		return harness.Get(t, s.URL(path), userAgent)
	}
	for _, tc := range []struct{ name, refusal string }{
		{"403", "respond @self 403"},
		{"401", "respond @self 401"},
		{"429", "respond @self 429"},
		{"the connection is closed", "abort @self"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, harness.ClosedRobots, nil)
			s := harness.Serve(t, "http://a.test:$PORT {\n @self remote_ip 192.0.2.1\n route {\n "+tc.refusal+"\n robots_guard enforce\n reverse_proxy $ORIGIN\n }\n}", "$ORIGIN", o.Address())
			if a := ask(s, "/private/x", harness.GPTBot); a.Status != 200 {
				t.Errorf("before anybody was seen to be served the file, a page got %d", a.Status)
			}
			if a := ask(s, "/robots.txt", harness.Bingbot); a.Body != harness.ClosedRobots {
				t.Fatalf("a crawler was served %q", a.Body)
			}
			for _, userAgent := range []string{harness.Bingbot, harness.GPTBot, harness.Googlebot} {
				harness.Eventually(t, "the rules are in force for "+userAgent, func() bool { return ask(s, "/private/x", userAgent).Status == 403 })
			}
			if a := ask(s, "/public", harness.Bingbot); a.Status != 200 {
				t.Errorf("an allowed page got %d", a.Status)
			}
			warned := s.Await("the site refuses its robots.txt to the guard and serves it to clients; what they are served is used", 1)
			if len(warned) != 1 || warned[0]["level"] != "warn" {
				t.Errorf("warnings: %v", warned)
			}
		})
	}
}

// gzipped returns a text in the gzip format.
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
