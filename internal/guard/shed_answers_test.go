package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// TestWhatTellsOfLoad counts answers that the site is waited for, and no others.
func TestWhatTellsOfLoad(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	for _, tc := range []struct {
		name, method, userAgent, target string
		took                            time.Duration
		left                            bool
		want                            int
	}{
		{"a browser", http.MethodGet, uaChrome, "/", time.Second, false, 1},
		{"a crawler", http.MethodGet, "bingbot/2.0", "/", time.Second, false, 1},
		{"an upload", http.MethodPost, uaChrome, "/", time.Second, false, 0},
		{"a preflight", http.MethodOptions, uaChrome, "/", time.Second, false, 0},
		{"an image", http.MethodGet, uaChrome, "/a.png", time.Second, false, 0},
		{"a sitemap", http.MethodGet, "bingbot/2.0", "/sitemap.xml", time.Second, false, 0},
		{"robots.txt", http.MethodGet, uaChrome, "/robots.txt", time.Second, false, 0},
		{"what is blocked", http.MethodGet, "bingbot/2.0", "/private/", time.Second, false, 0},
		{"a client that leaves soon", http.MethodGet, uaChrome, "/", time.Second, true, 0},
		{"a client that leaves late", http.MethodGet, uaChrome, "/", 3 * time.Second, true, 1},
		{"a crawler that leaves soon", http.MethodGet, "bingbot/2.0", "/", time.Second, true, 0},
		{"a crawler that leaves late", http.MethodGet, "bingbot/2.0", "/", 3 * time.Second, true, 1},
	} {
		l := newLoaded(t, shedding(true), "User-agent: *\nDisallow: /private/\n")
		l.Judge(requestBy("bingbot/2.0", "/"))
		r := served(tc.method, tc.userAgent, tc.target)
		if tc.left {
			ctx := context.WithValue(left, caddyhttp.VarsCtxKey, r.Context().Value(caddyhttp.VarsCtxKey))
			r = r.WithContext(context.WithValue(ctx, caddy.ReplacerCtxKey, r.Context().Value(caddy.ReplacerCtxKey)))
		}
		_ = l.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			if l.clock.Add(int64(tc.took)); tc.left {
				return context.Canceled
			}
			w.WriteHeader(http.StatusOK)
			return nil
		}))
		if seen := l.shared.loads.of(judge.OtherName, l.Guard).Recent(time.Duration(l.clock.Load())); seen.Answers != tc.want {
			t.Errorf("%s: %+v, want %d", tc.name, seen, tc.want)
		}
	}
}

// TestSlowBodiesTellOfNoLoad has clients send a body with GET as slowly as they like, so that
// the site seems to be slow. By HTTP/3 nobody knows at the beginning whether there is one.
func TestSlowBodiesTellOfNoLoad(t *testing.T) {
	for _, tc := range []struct {
		name, userAgent string
		length          int64
		major           int
		want            int
	}{
		{"a browser", uaChrome, 100, 1, 0},
		{"a browser, in chunks", uaChrome, -1, 1, 0},
		{"a browser by HTTP/2", uaChrome, -1, 2, 0},
		{"a crawler", "bingbot/2.0", 100, 1, 0},
		{"a crawler by HTTP/3", "bingbot/2.0", 100, 3, 0},
		{"a browser by HTTP/3 that does not say", uaChrome, -1, 3, 1},
		{"a crawler without", "bingbot/2.0", 0, 2, 1},
	} {
		l := newLoaded(t, shedding(true), "")
		l.Judge(requestBy("bingbot/2.0", "/"))
		r := served(http.MethodGet, tc.userAgent, "/")
		r.ContentLength, r.ProtoMajor = tc.length, tc.major
		_ = l.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			l.clock.Add(int64(3 * time.Second))
			w.WriteHeader(http.StatusOK)
			return nil
		}))
		if seen := l.shared.loads.of(judge.OtherName, l.Guard).Recent(time.Duration(l.clock.Load())); seen.Answers != tc.want {
			t.Errorf("%s: %+v, want %d", tc.name, seen, tc.want)
		}
	}
}
