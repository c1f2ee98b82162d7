package site

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestFollow(t *testing.T) {
	for _, tc := range []struct {
		name      string
		redirects map[string]string // from URL to Location
		want      string            // the requested URLs
		status    int
	}{
		{"none", nil, "http://a/robots.txt", 200},
		{"five", map[string]string{
			"http://a/robots.txt": "/1", "http://a/1": "/2", "http://a/2": "/3", "http://a/3": "/4", "http://a/4": "/5",
		}, "http://a/robots.txt http://a/1 http://a/2 http://a/3 http://a/4 http://a/5", 200},
		{"six", map[string]string{
			"http://a/robots.txt": "/1", "http://a/1": "/2", "http://a/2": "/3", "http://a/3": "/4", "http://a/4": "/5", "http://a/5": "/6",
		}, "http://a/robots.txt http://a/1 http://a/2 http://a/3 http://a/4 http://a/5", 302},
		{"to itself", map[string]string{"http://a/robots.txt": "robots.txt"}, "http://a/robots.txt", 302},
		{"to itself by a fragment", map[string]string{"http://a/robots.txt": "#x"}, "http://a/robots.txt", 302},
		{"round and round", map[string]string{"http://a/robots.txt": "/b", "http://a/b": "/robots.txt"}, "http://a/robots.txt http://a/b", 302},
		{"other authority", map[string]string{"http://a/robots.txt": "//b:8080/r?x=1"}, "http://a/robots.txt http://b:8080/r?x=1", 200},
		{"https and back", map[string]string{"http://a/robots.txt": "https://a/robots.txt", "https://a/robots.txt": "http://a/plain"},
			"http://a/robots.txt https://a/robots.txt http://a/plain", 200},
		{"credentials are left out", map[string]string{"http://a/robots.txt": "http://u:p@b/r"}, "http://a/robots.txt http://b/r", 200},
		{"no path", map[string]string{"http://a/robots.txt": "http://b"}, "http://a/robots.txt http://b/", 200},
		{"empty", map[string]string{"http://a/robots.txt": ""}, "http://a/robots.txt", 302},
		{"other scheme", map[string]string{"http://a/robots.txt": "file:///etc/passwd"}, "http://a/robots.txt", 302},
		{"no host", map[string]string{"http://a/robots.txt": "https:robots.txt"}, "http://a/robots.txt", 302},
		{"no URL", map[string]string{"http://a/robots.txt": "http://[::1/%zz"}, "http://a/robots.txt", 302},
		{"not ASCII", map[string]string{"http://a/robots.txt": "/ü"}, "http://a/robots.txt http://a/%C3%BC", 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked []string
			answer := FollowRedirects(t.Context(), &url.URL{Scheme: "http", Host: "a", Path: "/robots.txt"}, isA, nil, func(_ context.Context, u *url.URL, _ http.Header) policy.FetchResult {
				asked = append(asked, u.String())
				if to, ok := tc.redirects[u.String()]; ok {
					return policy.FetchResult{Status: 302, Header: http.Header{"Location": {to}}}
				}
				return policy.FetchResult{Status: 200, Header: http.Header{"Location": {"/ignored"}}}
			})
			if got := strings.Join(asked, " "); got != tc.want || answer.Status != tc.status {
				t.Errorf("got %s, status %d, want %s, %d", got, answer.Status, tc.want, tc.status)
			}
		})
	}
}

// TestFollowStopsAtNotModified checks that the Location of a 304 response is not followed (RFC 9110
// section 15.4.5).
func TestFollowStopsAtNotModified(t *testing.T) {
	have := http.Header{"If-None-Match": {`"1"`}}
	hops := 0
	answer := FollowRedirects(t.Context(), &url.URL{Scheme: "http", Host: "a", Path: "/robots.txt"}, isA, have, func(context.Context, *url.URL, http.Header) policy.FetchResult {
		if hops++; hops > 1 {
			return policy.FetchResult{Status: http.StatusNotFound}
		}
		return policy.FetchResult{Status: http.StatusNotModified, Header: http.Header{"Location": {"/elsewhere"}}}
	})
	if answer.AccessResult() != policy.NotModified || hops != 1 {
		t.Errorf("%s after %d questions, want unchanged after one", answer.AccessResult(), hops)
	}
}

func TestFollowStopsAtError(t *testing.T) {
	answer := FollowRedirects(t.Context(), &url.URL{Scheme: "http", Host: "a", Path: "/"}, isA, nil, func(context.Context, *url.URL, http.Header) policy.FetchResult {
		return policy.FetchResult{Status: 302, Header: http.Header{"Location": {"/x"}}, Err: errors.New("broke off")}
	})
	if answer.Err == nil {
		t.Error("no error")
	}
}

// TestAuthority checks which redirects stay on the site.
func TestAuthority(t *testing.T) {
	for _, tc := range []struct {
		host, proto, forwardedHost string
		own, other                 string
	}{
		{host: "a.test", own: "http://A.test:80/x http://a.test./x", other: "https://a.test/ http://a.test:8080/ http://b.test/ http://a.test.evil/"},
		{host: "a.test:8080", own: "http://a.test:8080/", other: "http://a.test/ https://a.test:8080/"},
		{host: "a.test:80", own: "http://a.test/", other: "http://a.test:443/"},
		{host: "inner", proto: "HTTPS", forwardedHost: "a.test", own: "https://a.test/ https://a.test:443/ https://inner/", other: "http://a.test/ http://inner/"},
		{host: "[::1]:8080", own: "http://[::1]:8080/", other: "http://[::1]/"},
		{host: "bücher.test", own: "http://xn--bcher-kva.test/", other: "http://bucher.test/"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = tc.host
		for name, value := range map[string]string{"X-Forwarded-Proto": tc.proto, "X-Forwarded-Host": tc.forwardedHost} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		own := newAuthority(r)
		for i, list := range []string{tc.own, tc.other} {
			for _, raw := range strings.Fields(list) {
				u, err := url.Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				if own.includesURL(u) != (i == 0) {
					t.Errorf("%s of %s: %s", raw, tc.host, strconv.FormatBool(own.includesURL(u)))
				}
			}
		}
	}
}

func isA(u *url.URL) bool { return u.Host == "a" }

// TestFollowTellsTheWay checks that FollowRedirects returns the redirects. Crawlers follow the same
// redirects.
func TestFollowTellsTheWay(t *testing.T) {
	redirects := map[string]string{"/robots.txt": "/x?y=%61", "/x": "//b/z#w", "/z": "http://a/last"}
	answer := FollowRedirects(t.Context(), &url.URL{Scheme: "http", Host: "a", Path: "/robots.txt"}, isA, nil, func(_ context.Context, u *url.URL, _ http.Header) policy.FetchResult {
		if to, ok := redirects[u.Path]; ok {
			return policy.FetchResult{Status: 302, Header: http.Header{"Location": {to}}}
		}
		return policy.FetchResult{Status: 503}
	})
	if got, want := strings.Join(answer.RedirectTargets, " "), "/x?y=%61 http://b/z /last"; got != want || answer.Status != 503 {
		t.Errorf("status %d by %s, want 503 by %s", answer.Status, got, want)
	}
}
