package served

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestNoDoubtByRequest sends unusual requests for robots.txt when its copy is old
// enough that a differing response makes it due again. The origin delays the guard's
// own request. A response that differs only because of the request must not affect the
// copy.
func TestNoDoubtByRequest(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{})
	t.Cleanup(func() { close(slow) })
	o := harness.NewOrigin(t, "", nil)
	var asked atomic.Bool
	o.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			fmt.Fprint(w, "page")
			return
		}
		if strings.HasPrefix(r.Header.Get("User-Agent"), "RobotsGuard/") && asked.Swap(true) {
			select { // every time but the first
			case <-slow:
			case <-r.Context().Done():
			}
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "robots.txt", time.Unix(1e9, 0), strings.NewReader(harness.ClosedRobots))
	})
	s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	s.Warm("/")
	time.Sleep(10500 * time.Millisecond) // no event reports this point in time
	for _, variant := range []struct {
		name   string
		change func(*http.Request)
	}{
		{"plain", func(*http.Request) {}},
		{"HEAD", harness.Method(http.MethodHead)},
		{"Range", harness.Header("Range", "bytes=0-5")},
		{"If-None-Match", harness.Header("If-None-Match", `"1"`)},
		{"gzip", harness.Header("Accept-Encoding", "gzip")},
		{"wrong Range", harness.Header("Range", "bytes=999999-")},
		{"If-Match", harness.Header("If-Match", `"other"`)},
		{"If-Unmodified-Since", harness.Header("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT")},
		{"POST", harness.Method(http.MethodPost)},
		{"DELETE", harness.Method(http.MethodDelete)},
	} {
		before := harness.Get(t, s.URL("/robots.txt"), harness.Firefox, variant.change)
		if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != 403 {
			t.Errorf("after %s with status %d: got %d %q", variant.name, before.Status, a.Status, a.Body)
		}
	}
}

// TestUnchangedIsNeverStale requests an unchanged robots.txt in all ways that change
// the response. None of them may make the guard believe that the file has changed.
// Otherwise a client could use them to get disallowed pages.
func TestUnchangedIsNeverStale(t *testing.T) {
	t.Parallel()
	long := harness.ClosedRobots + strings.Repeat("# comment to make it worth compressing\n", 100)
	root := harness.Files(t, map[string]string{"robots.txt": long, "page.txt": "page", "private/x.txt": "secret"})
	personal := harness.NewOrigin(t, long, func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Etag", `"1"`)
		switch {
		case r.URL.Path == "/robots.txt" && r.Header.Get("Cookie") != "":
			w.Header().Set("Etag", `"personal"`)
			fmt.Fprint(w, "# hello, friend\n"+long)
		case r.URL.Path == "/robots.txt" && r.URL.RawQuery != "":
			fmt.Fprint(w, "User-agent: *\nAllow: /\n")
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			return false
		}
		return true
	})
	for name, site := range map[string]string{
		"file_server":   "encode gzip\n root $ROOT\n file_server",
		"reverse_proxy": "encode gzip\n reverse_proxy $ORIGIN",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n "+site+"\n}", "$ROOT", root, "$ORIGIN", personal.Address())
			s.Warm("/")
			for variant, change := range map[string]func(*http.Request){
				"plain":             func(*http.Request) {},
				"HEAD":              harness.Method(http.MethodHead),
				"POST":              harness.Method(http.MethodPost),
				"OPTIONS":           harness.Method(http.MethodOptions),
				"Range":             harness.Header("Range", "bytes=0-5"),
				"Range at the end":  harness.Header("Range", "bytes=-5"),
				"wrong Range":       harness.Header("Range", "bytes=999999-"),
				"gzip":              harness.Header("Accept-Encoding", "gzip"),
				"If-None-Match *":   harness.Header("If-None-Match", "*"),
				"If-None-Match":     harness.Header("If-None-Match", `"1"`),
				"If-Modified-Since": harness.Header("If-Modified-Since", "Sat, 21 Nov 2099 05:04:44 GMT"),
				"If-Match":          harness.Header("If-Match", `"other"`),
				"query":             func(r *http.Request) { r.URL.RawQuery = "x=y" },
				"escaped":           func(r *http.Request) { r.URL.RawPath = "/robots.tx%74" },
				"cookie":            harness.Header("Cookie", "session=1"),
				"authorization":     harness.Header("Authorization", "Basic eDp4"),
			} {
				for _, reader := range []string{harness.Bingbot, harness.Firefox, harness.Curl, ""} {
					harness.Get(t, s.URL("/robots.txt"), reader, change)
					for range 2 {
						if a := harness.Get(t, s.URL("/private/x.txt"), harness.Bingbot); a.Status != 403 {
							t.Errorf("after %s as %q: got %d %q", variant, reader, a.Status, a.Body)
						}
					}
				}
			}
			if n := s.Metrics().Sum(harness.RequestsMetric, `verdict="stale"`); n != 0 {
				t.Errorf("%v requests counted as stale", n)
			}
		})
	}
}
