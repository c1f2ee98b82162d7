package served

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestUnchangedIsNeverStale requests an unchanged robots.txt in all ways that change
// the response. None of them may make the guard believe that the file has changed.
// Otherwise a client could use them to get disallowed pages. The origin delays all
// fetches of the guard but the first, so that a doubt about the copy is visible.
func TestUnchangedIsNeverStale(t *testing.T) {
	t.Parallel()
	long := harness.ClosedRobots + strings.Repeat("# comment to make it worth compressing\n", 100)
	root := harness.Files(t, map[string]string{"robots.txt": long, "page.txt": "page", "private/x.txt": "secret"})
	var fetched atomic.Bool
	origin := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		text, etag := long, `"1"`
		switch {
		case r.URL.Path != "/robots.txt":
			return false
		case strings.HasPrefix(r.UserAgent(), "RobotsGuard/") && fetched.Swap(true):
			<-r.Context().Done()
			return true
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		case r.Header.Get("Cookie") != "":
			text, etag = "# hello, friend\n"+long, `"personal"`
		case r.URL.RawQuery != "":
			text, etag = "User-agent: *\nAllow: /\n", `"open"`
		}
		w.Header().Set("Etag", etag)
		http.ServeContent(w, r, "robots.txt", time.Unix(1e9, 0), strings.NewReader(text))
		return true
	})
	for name, site := range map[string]string{
		"file_server":   "encode gzip\n root $ROOT\n file_server",
		"reverse_proxy": "encode gzip\n reverse_proxy $ORIGIN",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n "+site+"\n}", "$ROOT", root, "$ORIGIN", origin.Address())
			s.Warm("/")
			time.Sleep(10500 * time.Millisecond) // before, a differing response does not make the copy due; no event reports this point in time
			for variant, change := range map[string]func(*http.Request){
				"plain":             func(*http.Request) {},
				"HEAD":              harness.Method(http.MethodHead),
				"POST":              harness.Method(http.MethodPost),
				"DELETE":            harness.Method(http.MethodDelete),
				"unmodified":        harness.Header("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
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
