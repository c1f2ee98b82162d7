package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRedirectInside tests an origin whose robots.txt redirects to a path that the site
// serves only to some addresses. The guard's own requests come from the server itself.
// For a crawler the guard must not fetch what the crawler itself may not fetch. It
// follows redirects to public paths.
func TestRedirectInside(t *testing.T) {
	t.Parallel()
	const proxied = "servers {\n trusted_proxies static 127.0.0.1/32\n }"
	cases := []struct {
		name, global string
		inside       string // directives that restrict access to /internal/
		forwarded    string // client address according to a proxy
	}{
		{name: "handle and remote_ip", inside: `@local {
			path /internal/*
			remote_ip 127.0.0.1
		}
		handle @local {
			reverse_proxy $ORIGIN
		}
		handle /internal/* {
			respond 404
		}`},
		{name: "not remote_ip", inside: `@foreign {
			path /internal/*
			not remote_ip 127.0.0.1 ::1
		}
		respond @foreign 403`},
		{name: "private_ranges", inside: `@foreign {
			path /internal/*
			not remote_ip private_ranges
		}
		respond @foreign 403`},
		{name: "client_ip", inside: `@foreign {
			path /internal/*
			not client_ip 127.0.0.0/8
		}
		error @foreign 403`},
		{name: "route", inside: `route /internal/* {
			@foreign not remote_ip 127.0.0.1
			abort @foreign
		}`},
		{name: "an expression", inside: `@foreign expression path('/internal/*') && !remote_ip('127.0.0.1')
		respond @foreign 403`},
		{name: "an expression with client_ip", inside: `@foreign ` + "`path('/internal/*') && !client_ip('127.0.0.0/8')`" + `
		redir @foreign /elsewhere`},
		{name: "a placeholder", inside: `@foreign expression path('/internal/*') && {remote_host} != "127.0.0.1"
		respond @foreign 403`},
		{name: "the variable", inside: `@foreign {
			path /internal/*
			not vars {client_ip} 127.0.0.1
		}
		respond @foreign 403`},
		{name: "client_ip behind a proxy", global: proxied, forwarded: "203.0.113.7", inside: `@foreign {
			path /internal/*
			not client_ip 127.0.0.1
		}
		respond @foreign 403`},
		{name: "client_ip behind a proxy with a field of its own", forwarded: "203.0.113.7",
			global: "servers {\n trusted_proxies static 127.0.0.1/32\n client_ip_headers CF-Connecting-IP X-Forwarded-For\n trusted_proxies_strict\n }",
			inside: `@foreign {
			path /internal/*
			not client_ip private_ranges
		}
		respond @foreign 403`},
	}
	robots := func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/robots.txt" && strings.HasPrefix(r.Host, "open"):
			http.Redirect(w, r, "/rules/robots.txt", http.StatusFound)
		case r.URL.Path == "/robots.txt":
			http.Redirect(w, r, "/internal/robots.txt", http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/robots.txt"):
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /merger-with-example-inc\n"))
		default:
			return false
		}
		return true
	}
	sites := make(map[string]string) // by global options; each needs a server
	origins := make([]*harness.Origin, len(cases))
	for i, tc := range cases {
		origins[i] = harness.NewOrigin(t, "", robots)
		sites[tc.global] += fmt.Sprintf("http://a%d.test:$PORT, http://open%d.test:$PORT {\n robots_guard enforce {\n fetch_wait 20s\n fetch_timeout 20s\n }\n", i, i) +
			strings.ReplaceAll(tc.inside+"\n reverse_proxy $ORIGIN\n}\n", "$ORIGIN", origins[i].Address())
	}
	servers := make(map[string]*harness.Server)
	for global, config := range sites {
		servers[global] = harness.Serve(t, config, "$GLOBAL", global)
	}
	for i, tc := range cases {
		ask := func(host string) harness.Answer {
			return harness.Get(t, servers[tc.global].URL(fmt.Sprintf("http://%s%d.test/merger-with-example-inc", host, i)), harness.Bingbot, func(r *http.Request) {
				if tc.forwarded != "" {
					r.Header.Set("X-Forwarded-For", tc.forwarded)
					r.Header.Set("CF-Connecting-IP", tc.forwarded)
				}
			})
		}
		if a := ask("open"); a.Status != 403 || !strings.Contains(a.Body, "Disallow: /merger") {
			t.Errorf("%s: a redirect to a public path: got %d %q", tc.name, a.Status, a.Body)
		}
		if a := ask("a"); a.Status != 200 {
			t.Errorf("%s: a redirect to a restricted path: got %d %q", tc.name, a.Status, a.Body)
		}
		if n := origins[i].Requests("/internal/robots.txt"); n != 0 {
			t.Errorf("%s: the origin got %d requests for the restricted path", tc.name, n)
		}
	}
}
