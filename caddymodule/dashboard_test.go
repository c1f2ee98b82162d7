package caddymodule

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestDashboardPaths mounts the dashboard at several paths, with and without stripped prefixes. The
// page finds its files.
func TestDashboardPaths(t *testing.T) {
	for _, tc := range []struct {
		name, asked, stripped string // the paths before and after other directives
		status                int
		want                  string // the Location, or a part of the body
	}{
		{"at the root", "/", "/", 200, "<title>Robots Guard"},
		{"in a directory", "/robots-guard/", "/robots-guard/", 200, "<title>Robots Guard"},
		{"its prefix was stripped", "/robots-guard/", "/", 200, "<title>Robots Guard"},
		{"without the slash", "/robots-guard", "/robots-guard", 308, "./robots-guard/"},
		{"without the slash, its prefix was stripped", "/robots-guard", "/", 308, "./robots-guard/"},
		{"a file", "/robots-guard/app.js", "/robots-guard/app.js", 200, "import "},
		{"a file, its prefix was stripped", "/a/b/summary.json", "/summary.json", 200, `"requests"`},
		{"rewritten", "/stats/app.js", "/other", 200, "import "},
		{"an unknown file", "/robots-guard/x.js", "/x.js", 404, "no such file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}, AppsRaw: storesNothing()})
			if err != nil {
				t.Fatal(err)
			}
			d := new(Dashboard)
			if err := d.Provision(ctx); err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodGet, "http://a.test"+tc.asked, nil)
			r = r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, *r))
			r.URL = &url.URL{Path: tc.stripped}
			w := httptest.NewRecorder()
			if err := d.ServeHTTP(w, r, nil); err != nil {
				t.Fatal(err)
			}
			got := w.Body.String()
			if tc.status == 308 {
				got = w.Header().Get("Location")
			}
			if w.Code != tc.status || !strings.Contains(got, tc.want) {
				t.Errorf("got %d %.200s", w.Code, got)
			}
		})
	}
}
