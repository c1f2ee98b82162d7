package site

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestServerSourceShapes checks that the guard fetches the robots.txt for anonymous crawlers at any
// position in a Caddyfile.
func TestServerSourceShapes(t *testing.T) {
	dir := t.TempDir()
	long := "User-agent: *\n" + strings.Repeat("Disallow: /file\n", 200)
	for name, text := range map[string]string{"robots.txt": long, "other.txt": "# other\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Etag", `"x"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(long))
	})

	for _, tc := range []struct {
		name, options, sites, url string
		status                    int
		body                      string
	}{
		{name: "file_server", status: 200, body: long,
			sites: `http://a.test:PORT {
				source_probe
				root ROOT
				file_server
			}`},
		{name: "file_server without a robots.txt", status: 404,
			sites: `http://a.test:PORT {
				source_probe
				root DIR
				file_server
			}`},
		{name: "reverse_proxy", status: 200, body: long,
			sites: `http://a.test:PORT {
				source_probe
				reverse_proxy ORIGIN
			}`},
		{name: "encode in front", status: 200, body: long,
			sites: `http://a.test:PORT {
				source_probe
				encode gzip
				root ROOT
				file_server
			}`},
		{name: "handle /robots.txt beside a handle", status: 200, body: "# handled\n", url: "/app/page",
			sites: `http://a.test:PORT {
				handle /app/* {
					source_probe
					respond "app" 200
				}
				handle /robots.txt {
					respond "# handled
"
				}
			}`},
		{name: "inside a route", status: 200, body: "# before\n", url: "/app",
			sites: `http://a.test:PORT {
				route {
					respond /robots.txt "# before
"
					source_probe
					respond "# after
"
				}
			}`},
		{name: "handle inside a route", status: 200, body: "# nested\n", url: "/app/x",
			sites: `http://a.test:PORT {
				route {
					handle /app/* {
						source_probe
						respond "app"
					}
					handle {
						respond /robots.txt "# nested
"
						respond 404
					}
				}
			}`},
		{name: "handle_path", status: 200, body: "# root\n", url: "/app/page",
			sites: `http://a.test:PORT {
				handle_path /app/* {
					source_probe
					respond /robots.txt "# wrong: that of the app
"
				}
				respond /robots.txt "# root
"
			}`},
		{name: "after a rewrite", status: 200, body: "# right\n", url: "/old",
			sites: `http://a.test:PORT {
				route {
					rewrite /old /new
					source_probe
					respond /robots.txt "# right
"
				}
			}`},
		{name: "robots.txt itself rewritten", status: 200, body: "# other\n",
			sites: `http://a.test:PORT {
				source_probe
				rewrite /robots.txt /other.txt
				root ROOT
				file_server
			}`},
		{name: "try_files", status: 200, body: "# other\n",
			sites: `http://a.test:PORT {
				source_probe
				root ROOT
				try_files {path}.missing /other.txt
				file_server
			}`},
		{name: "behind a matcher that robots.txt does not match", status: 200, body: long, url: "/private/x",
			sites: `http://a.test:PORT {
				source_probe /private/*
				root ROOT
				file_server
			}`},
		{name: "basic_auth", status: 401,
			sites: `http://a.test:PORT {
				source_probe
				basic_auth {
					u HASH
				}
				root ROOT
				file_server
			}`},
		{name: "respond", status: 200, body: "User-agent: *\nDisallow: /r\n",
			sites: `http://a.test:PORT {
				source_probe
				respond /robots.txt "User-agent: *
Disallow: /r
"
			}`},
		{name: "nobody answers", status: 200,
			sites: `http://a.test:PORT {
				source_probe
			}`},
		{name: "error 503", status: 503,
			sites: `http://a.test:PORT {
				source_probe
				error /robots.txt 503
			}`},
		{name: "handle_errors", status: 404,
			sites: `http://a.test:PORT {
				source_probe
				root DIR
				file_server
				handle_errors {
					respond "User-agent: *
Disallow: /" {err.status_code}
				}
			}`},
		{name: "handle_errors with a 200", status: 200, body: "# instead\n",
			sites: `http://a.test:PORT {
				source_probe
				root DIR
				file_server
				handle_errors {
					respond "# instead
" 200
				}
			}`},
		{name: "inside handle_errors", status: 200, body: long, url: "/missing",
			sites: `http://a.test:PORT {
				root ROOT
				file_server
				handle_errors {
					source_probe
				}
			}`},
		{name: "redir to another path", status: 200, body: "# other\n",
			sites: `http://a.test:PORT {
				source_probe
				redir /robots.txt /other.txt
				root ROOT
				file_server
			}`},
		{name: "redir with a query to this site by its name", status: 200, body: "# query v=1&w=%20\n",
			sites: `http://a.test:PORT {
				source_probe
				redir /robots.txt http://A.test:PORT/other?v=1&w=%20#fragment
				respond /other "# query {query}
"
			}`},
		{name: "redir to itself", status: 302,
			sites: `http://a.test:PORT {
				source_probe
				redir /robots.txt /robots.txt
			}`},
		{name: "redir without end", status: 302,
			sites: `http://a.test:PORT {
				source_probe
				redir * {uri}x
			}`},
		{name: "redir elsewhere", status: 200, body: long,
			sites: `http://a.test:PORT {
				source_probe
				redir /robots.txt http://ORIGIN{uri}
			}`},
		{name: "two sites on one listener", status: 200, body: "# b\n", url: "http://b.test:PORT/x",
			sites: `http://a.test:PORT {
				source_probe
				respond /robots.txt "# a
"
			}
			http://b.test:PORT {
				source_probe
				respond /robots.txt "# b
"
			}`},
		{name: "wildcard site", status: 200, body: "# x.a.test\n", url: "http://x.a.test:PORT/x",
			sites: `http://*.a.test:PORT {
				source_probe
				respond /robots.txt "# {host}
"
			}`},
		{name: "https", status: 200, body: long, url: "https://localhost:PORT/x",
			sites: `https://localhost:PORT {
				source_probe
				root ROOT
				file_server
			}`},
		{name: "https on the whole listener only", options: `servers {
				strict_sni_host on
				protocols h1 h2
				enable_full_duplex
			}`, status: 200, body: "# https HTTP/1.1\n", url: "https://localhost:PORT/x",
			sites: `https://localhost:PORT {
				source_probe
				respond /robots.txt "# {scheme} {http.request.proto}
"
			}`},
		{name: "log", status: 200, body: long,
			sites: `http://a.test:PORT {
				log
				source_probe
				root ROOT
				file_server
			}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			site := loadProbed(t, tc.options, tc.sites, "ROOT", dir, "ORIGIN", origin)
			url := tc.url
			if !strings.Contains(url, "://") {
				url = "http://a.test:PORT/" + strings.TrimPrefix(url, "/")
			}
			got := site.probe(url)
			if got.Err != "" || got.Status != tc.status {
				t.Fatalf("got status %d, error %q, want %d", got.Status, got.Err, tc.status)
			}
			if got.Body != tc.body {
				t.Errorf("got body %.200q, want %.200q", got.Body, tc.body)
			}
		})
	}
}

func TestServerSourceOriginDown(t *testing.T) {
	site := loadProbed(t, "", `http://a.test:PORT {
		source_probe
		reverse_proxy 127.0.0.1:CLOSED
	}`, "CLOSED", freePort(t))
	got := site.probe("http://a.test:PORT/x")
	if got.Status != http.StatusBadGateway || got.meaning() != policy.Unreachable {
		t.Errorf("got status %d, error %q", got.Status, got.Err)
	}
}
