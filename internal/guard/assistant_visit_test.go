package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// TestVisits checks that only visits of people who follow a link of an assistant are
// counted.
func TestVisits(t *testing.T) {
	html := map[string]string{"Accept": "text/html,application/xhtml+xml"}
	for _, tc := range []struct {
		name    string
		agent   string
		referer []string
		method  string
		header  map[string]string
		status  int
		want    uint64
	}{
		{"a visit", uaChrome, []string{"https://chatgpt.com/"}, "GET", map[string]string{"Sec-Fetch-Dest": "document"}, 200, 1},
		{"an older browser", uaChrome, []string{"https://chatgpt.com/"}, "GET", html, 200, 1},
		{"it has the page", uaChrome, []string{"https://chatgpt.com/"}, "GET", html, 304, 1},
		{"an image", uaChrome, []string{"https://chatgpt.com/"}, "GET", map[string]string{"Sec-Fetch-Dest": "image"}, 200, 0},
		{"a frame", uaChrome, []string{"https://chatgpt.com/"}, "GET", map[string]string{"Sec-Fetch-Dest": "iframe"}, 200, 0},
		{"nobody knows what", uaChrome, []string{"https://chatgpt.com/"}, "GET", map[string]string{"Accept": "*/*"}, 200, 0},
		{"fetched in advance", uaChrome, []string{"https://chatgpt.com/"}, "GET", map[string]string{"Sec-Fetch-Dest": "document", "Sec-Purpose": "prefetch;prerender"}, 200, 0},
		{"a page that is not there", uaChrome, []string{"https://chatgpt.com/"}, "GET", html, 404, 0},
		{"a redirect, after which it comes again", uaChrome, []string{"https://chatgpt.com/"}, "GET", html, 301, 0},
		{"a form", uaChrome, []string{"https://chatgpt.com/"}, "POST", html, 200, 0},
		{"from the site itself", uaChrome, []string{"https://example.com/"}, "GET", html, 200, 0},
		{"two of them", uaChrome, []string{"https://chatgpt.com/", "https://chatgpt.com/"}, "GET", html, 200, 0},
		{"none", uaChrome, nil, "GET", html, 200, 0},
		{"without a name", "", []string{"https://chatgpt.com/"}, "GET", html, 200, 0},
		{"a crawler", "GPTBot/1.3", []string{"https://chatgpt.com/"}, "GET", html, 200, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := answeringGuard(t, true)
			r := httptest.NewRequest(tc.method, "/", nil)
			for name, value := range tc.header {
				r.Header.Set(name, value)
			}
			if r.Header.Set("User-Agent", tc.agent); tc.referer != nil {
				r.Header["Referer"] = tc.referer
			}
			w := httptest.NewRecorder()
			if err := g.Serve(w, prepared(r), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, "a page") // a 304 response has no body
				return nil
			})); err != nil || w.Code != tc.status {
				t.Errorf("answered %d %q, %v", w.Code, w.Body, err)
			}
			got, now := uint64(0), time.Now()
			for _, s := range g.state.Ledger.Snapshot().Sites {
				got += s.SumVisits("chatgpt.com", ledger.Days, now.Add(-time.Hour), now)
			}
			if got != tc.want {
				t.Errorf("%d visits, want %d", got, tc.want)
			}
		})
	}
}

// TestAVisitorCostsNoAllocation tests a browser that follows a link within the site.
func TestAVisitorCostsNoAllocation(t *testing.T) {
	g := answeringGuard(t, true)
	r := browserRequest()
	r.Header.Set("Referer", "https://www.example.com/some/page")
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	clearPlaceholders(r)
	if n := testing.AllocsPerRun(200, func() { _ = g.passBrowserRequest(nil, r, next) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
