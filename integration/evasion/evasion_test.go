package evasion

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// serveNginx runs nginx with the files of a directory and additional server directives.
// It returns the address of nginx.
func serveNginx(t *testing.T, root string, directives ...string) string {
	t.Helper()
	dir, port := t.TempDir(), harness.FreePort(t)
	server := "server {\n\tlisten 127.0.0.1:" + port + ";\n\troot " + root + ";\n\t" + strings.Join(directives, "\n") + "\n}"
	harness.Attend(t, harness.Nginx(t, dir, server), "127.0.0.1:"+port)
	return "127.0.0.1:" + port
}

// TestEvasion requests a disallowed URL in all known spellings, behind common servers.
// If a spelling returns the disallowed page to a browser, a crawler must be blocked for
// that spelling.
func TestEvasion(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nDisallow: /private/\nAllow: /public/\n"
	root := harness.Files(t, map[string]string{"robots.txt": robots, "private/x.txt": "SECRET", "public/y.txt": "public"})
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(root)))
	goMux := httptest.NewServer(mux)
	t.Cleanup(goMux.Close)
	for name, site := range map[string]func(*testing.T) string{
		"file_server": func(*testing.T) string { return "root " + root + "\n file_server" },
		"try_files": func(*testing.T) string {
			return "root " + root + "\n try_files {path} {path}/ /index.php\n file_server"
		},
		"Go":    func(*testing.T) string { return "reverse_proxy " + goMux.Listener.Addr().String() },
		"nginx": func(t *testing.T) string { return "reverse_proxy " + serveNginx(t, root) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Requests wait for the robots.txt of unknown hosts.
			s := harness.Serve(t, "http://a.test:$PORT, http://:$PORT {\n robots_guard enforce {\n fetch_wait 20s\n fetch_timeout 20s\n }\n "+site(t)+"\n}")
			served, tried := 0, make(map[string]bool)
			for _, target := range append(harness.Spellings(), harness.OddSpellings()...) {
				tried[target] = true
				target = strings.ReplaceAll(target, "$PORT", s.Port)
				request := func(userAgent string) (status int, body string) {
					return harness.Raw(t, s, "GET "+target+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: "+userAgent+"\r\nConnection: close\r\n\r\n")
				}
				if _, body := request(harness.Firefox); !strings.Contains(body, "SECRET") {
					continue
				}
				served++
				if status, body := request(harness.Bingbot); status != 403 || strings.Contains(body, "SECRET") {
					t.Errorf("%.200q: a crawler got %d %.50q, but a browser gets the disallowed file", target, status, body)
				}
			}
			t.Logf("%d of %d spellings served", served, len(tried))
			if served < 30 || len(tried) < 420 {
				t.Errorf("only %d of %d spellings reach the file; check the test's site", served, len(tried))
			}
		})
	}
}

// TestEvasionRequests requests a disallowed page with unusual requests. Only requests
// without a path are not evaluated.
func TestEvasionRequests(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		rule, _, _ := strings.Cut(r.Host, ".")
		rule = map[string]string{"closed": "/", "index": "/$"}[rule]
		if r.URL.Path != "/robots.txt" || rule == "" {
			return false
		}
		fmt.Fprint(w, "User-agent: *\nDisallow: "+rule)
		return true
	})
	s := harness.Serve(t, `http://a.test:$PORT, http://*.b.test:$PORT, http://:$PORT {
		robots_guard enforce {
			fetch_wait 20s
			fetch_timeout 20s
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	long := strings.Repeat("x", 300)
	for _, tc := range []struct {
		name   string
		start  string // request line and Host field
		status int
	}{
		{"plain", "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"a host in capitals", "GET /private/x HTTP/1.1\r\nHost: A.TEST:$PORT", 403},
		{"a host with a final dot", "GET /private/x HTTP/1.1\r\nHost: a.test.:$PORT", 403},
		{"a host with two final dots", "GET /private/x HTTP/1.1\r\nHost: a.test..:$PORT", 403},
		{"another port", "GET /private/x HTTP/1.1\r\nHost: a.test:1", 403},
		{"a port that is not a number", "GET /private/x HTTP/1.1\r\nHost: a.test:x", 403},
		{"a port out of range", "GET /private/x HTTP/1.1\r\nHost: a.test:99999999", 403},
		{"a port with very many zeros", "GET /private/x HTTP/1.1\r\nHost: a.test:" + strings.Repeat("0", 300) + "80", 403},
		{"an empty port", "GET /private/x HTTP/1.1\r\nHost: a.test:", 403},
		{"a host that is too long for DNS", "GET /private/x HTTP/1.1\r\nHost: " + long + ".test:$PORT", 403},
		{"a long host of a wildcard site", "GET /private/x HTTP/1.1\r\nHost: " + long + ".b.test:$PORT", 403},
		{"a host of a thousand labels", "GET /private/x HTTP/1.1\r\nHost: " + strings.Repeat("x.", 1000) + "test", 403},
		{"no host", "GET /private/x HTTP/1.1\r\nHost:", 400},
		{"a host in raw UTF-8", "GET /private/x HTTP/1.1\r\nHost: \xc3\xa9.test", 400},
		{"two hosts", "GET /private/x HTTP/1.1\r\nHost: a.test\r\nHost: b.test", 400},
		{"a forwarded host", "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nX-Forwarded-Host: open.test", 403},
		{"a long forwarded host", "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nX-Forwarded-Host: " + long, 403},
		{"HTTP/1.0", "GET /private/x HTTP/1.0\r\nHost: a.test:$PORT", 403},
		{"HTTP/1.0 without a host", "GET /private/x HTTP/1.0", 403},
		{"HTTP/0.9", "GET /private/x", 400},
		{"a tab in the request line", "GET\t/private/x HTTP/1.1\r\nHost: a.test:$PORT", 400},
		{"two spaces in the request line", "GET  /private/x HTTP/1.1\r\nHost: a.test:$PORT", 400},
		{"a line feed alone", "GET /private/x HTTP/1.1\nHost: a.test:$PORT", 403},
		{"HEAD", "HEAD /private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"an unknown method", "FETCH /private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"a method in lower case", "get /private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"CONNECT with a path", "CONNECT /private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"CONNECT with an allowed path", "CONNECT /x HTTP/1.1\r\nHost: a.test:$PORT", 200},
		{"CONNECT with a host and a path", "CONNECT a.test:$PORT/private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"CONNECT with a host and an allowed path", "CONNECT a.test:$PORT/x HTTP/1.1\r\nHost: a.test:$PORT", 200},
		{"CONNECT with dot segments", "CONNECT a.test:$PORT/x/../private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"a scheme and no slash", "GET x:public/y HTTP/1.1\r\nHost: index.b.test:$PORT", 403},
		{"a star", "GET * HTTP/1.1\r\nHost: closed.b.test:$PORT", 403},
		{"OPTIONS with a path", "OPTIONS /private/x HTTP/1.1\r\nHost: a.test:$PORT", 403},
		{"OPTIONS without a path", "OPTIONS * HTTP/1.1\r\nHost: a.test:$PORT", 200},
		{"a method override", "POST /x HTTP/1.1\r\nHost: a.test:$PORT\r\nX-HTTP-Method-Override: GET\r\nX-Rewrite-URL: /x\r\nContent-Length: 0", 200},
		{"an upgrade to HTTP/2", "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", 403},
		{"fields that imitate the guard", "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nX-Robots-Guard: 1\r\nFrom: RobotsGuard/1.0", 403},
	} {
		request := strings.ReplaceAll(tc.start, "$PORT", s.Port) + "\r\nUser-Agent: " + harness.Bingbot + "\r\n"
		if !strings.Contains(tc.start, "CONNECT") {
			request += "Connection: close\r\n"
		}
		if status, body := harness.Raw(t, s, request+"\r\n"); status != tc.status {
			t.Errorf("%s: got %d %.200q, want %d", tc.name, status, body, tc.status)
		}
	}
}
