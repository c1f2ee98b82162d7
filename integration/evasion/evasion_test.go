package evasion

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// spelledRobots is the robots.txt of the sites in TestEvasion. All of them serve SECRET
// at /doc.pdf and /private/x.txt.
const spelledRobots = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /private/\nAllow: /public/\nAllow: /public/pages/\n"

// resolvedSpellings are request targets that some servers resolve to /doc.pdf or
// /private/x.txt. The result depends on the order of decoding, merging slashes and
// resolving dot segments, and on what a server takes for the path.
var resolvedSpellings = []string{
	"/doc.pdf/.", "/doc.pdf/x/..", "/doc.pdf/%2e", "/doc.pdf/%2E", "/doc.pdf%2f%2e", "/doc.pdf%2F.", "/doc.pdf/x%2f..", "/doc.pdf//.", "/doc.pdf/./.",
	"/doc.pdf/x/y/../..", "/a/../doc.pdf/.", "/./doc.pdf/x/%2e%2e", "//doc.pdf/.",
	"/private//..%2Fx.txt", "/private//..%2fx.txt", "/private//%2e%2e/x.txt", "/private%2F/..%2fx.txt", "/private///..%2F..%2Fx.txt", "/private//../x.txt", "//x//..%2F..%2Fprivate//..%2Fx.txt",
	"/x%5Cy//../private/x.txt", "/x\\y//../private/x.txt", "/x%5cy%2F../private/x.txt", "/x%2F%5Cy//../../private/x.txt", "/public/pages/b//c//../../../../private/x.txt",
	"/private/..%2Fx.txt", "/private/../x.txt", "/private/x/../../public", "/private/x/../../.well-known/acme-challenge/a", "/private/%2e%2e/public",
	"x:private/x.txt", "http:private/x.txt", "https:private/x.txt", "HTTP:private/x.txt", "a+b:private/x.txt", "x:private/x.txt?a", "x:a/../private/x.txt", "x:%70rivate/x.txt", "x:doc.pdf", "x:doc.pdf/.",
}

// allowedSpellings are targets that no server resolves to a disallowed file.
var allowedSpellings = []string{
	"/doc.pdf?a=b", "/doc.pdf/", "/doc.pdf/x", "/doc.pdf.html", "/x.pdf/..", "/public/y.txt", "/public/./y.txt", "/public/x/..", "x:public/y.txt", "/x:private/x.txt", "/?x:private/x.txt",
}

// serveNginx runs nginx with the files of a directory and additional server directives.
// It returns the address of nginx.
func serveNginx(t *testing.T, root, directives string) string {
	t.Helper()
	dir, port := t.TempDir(), harness.FreePort(t)
	server := "server {\n\tlisten 127.0.0.1:" + port + ";\n\troot " + root + ";\n\t" + directives + "\n}"
	harness.Attend(t, harness.Nginx(t, dir, server), "127.0.0.1:"+port)
	return "127.0.0.1:" + port
}

// serveLiteral runs an origin that parses the request line itself and takes the part
// after a scheme for the path. It returns the address of the origin.
func serveLiteral(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	answer := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for {
			r, err := in.ReadString('\n')
			if err != nil {
				return
			}
			for line := r; strings.TrimSpace(line) != ""; {
				if line, err = in.ReadString('\n'); err != nil {
					return
				}
			}
			target := strings.Fields(r)[1]
			if _, rest, ok := strings.Cut(target, ":"); ok && !strings.HasPrefix(target, "/") {
				target = rest
			}
			target, _, _ = strings.Cut(target, "?")
			body := "page"
			switch target = path.Clean("/" + strings.ReplaceAll(target, "%70", "p")); target {
			case "/robots.txt":
				body = spelledRobots
			case "/private/x.txt", "/doc.pdf":
				body = "SECRET"
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	return l.Addr().String()
}

// serveBy runs an origin that serves SECRET at the disallowed paths. resolve returns the
// path that the origin takes from a URL.
func serveBy(t *testing.T, resolve func(*url.URL) string) string {
	t.Helper()
	return harness.NewOrigin(t, spelledRobots, func(w http.ResponseWriter, r *http.Request) bool {
		isSecret := slices.Contains([]string{"/doc.pdf", "/private/x.txt"}, resolve(r.URL))
		if isSecret {
			_, _ = io.WriteString(w, "SECRET")
		}
		return isSecret
	}).Address()
}

// TestEvasion requests disallowed URLs in all known spellings, behind common servers. If
// a spelling returns the disallowed page to a browser, a crawler must be blocked for
// that spelling.
func TestEvasion(t *testing.T) {
	t.Parallel()
	root := harness.Files(t, map[string]string{"robots.txt": spelledRobots, "private/x.txt": "SECRET", "doc.pdf": "SECRET", "public/y.txt": "public", "x.txt": "page"})
	for name, tc := range map[string]struct {
		site   func(*testing.T) string
		served string // a target that it serves, to validate the test
	}{
		"file_server": {func(*testing.T) string { return "root " + root + "\n file_server" }, "/doc.pdf/."},
		"try_files": {func(*testing.T) string {
			return "root " + root + "\n try_files {path} {path}/ /index.php\n file_server"
		}, "/%70rivate/x.txt"},
		"Go": {func(t *testing.T) string {
			server := httptest.NewServer(http.FileServer(http.Dir(root)))
			t.Cleanup(server.Close)
			return "reverse_proxy " + server.Listener.Addr().String()
		}, "/x//..//private/x.txt"},
		"path.Clean": {func(t *testing.T) string { // as many Go programs do
			return "reverse_proxy " + serveBy(t, func(u *url.URL) string { return path.Clean("/" + u.Path) })
		}, "/doc.pdf%2f%2e"},
		"as much as possible is equal": {func(t *testing.T) string {
			return "reverse_proxy " + serveBy(t, func(u *url.URL) string {
				p, _ := url.PathUnescape(u.EscapedPath())
				return path.Clean("/" + strings.ReplaceAll(p, `\`, "/"))
			})
		}, "/%5cprivate/x.txt"},
		"as sent": {func(t *testing.T) string { // as Express, Flask and Django do
			return "reverse_proxy " + serveBy(t, func(u *url.URL) string {
				if strings.HasPrefix(u.Path, "/private/") {
					return "/private/x.txt"
				}
				return ""
			})
		}, "/private/x/../../public"},
		"nginx":                    {func(t *testing.T) string { return "reverse_proxy " + serveNginx(t, root, "") }, "/x//..//private/x.txt"},
		"nginx, merge_slashes off": {func(t *testing.T) string { return "reverse_proxy " + serveNginx(t, root, "merge_slashes off;") }, "/private//..%2Fx.txt"},
		"what follows the colon":   {func(t *testing.T) string { return "reverse_proxy " + serveLiteral(t) }, "x:private/x.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Requests wait for the robots.txt of unknown hosts.
			s := harness.Serve(t, "http://a.test:$PORT, http://:$PORT {\n robots_guard enforce {\n fetch_wait 20s\n fetch_timeout 20s\n }\n "+tc.site(t)+"\n}")
			request := func(target, userAgent string) (status int, body string) {
				return harness.Raw(t, s, "GET "+target+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: "+userAgent+"\r\nConnection: close\r\n\r\n")
			}
			var served []string
			for _, target := range slices.Concat(resolvedSpellings, harness.Spellings(), harness.OddSpellings()) {
				target = strings.ReplaceAll(target, "$PORT", s.Port)
				if _, body := request(target, harness.Firefox); !strings.Contains(body, "SECRET") {
					continue
				}
				served = append(served, target)
				if status, body := request(target, harness.Bingbot); status != 403 || strings.Contains(body, "SECRET") {
					t.Errorf("%.200q: a crawler got %d %.50q, but a browser gets the disallowed file", target, status, body)
				}
			}
			t.Logf("%d spellings served", len(served))
			if !slices.Contains(served, tc.served) {
				t.Errorf("%s does not reach the file; check the test's site", tc.served)
			}
			for _, target := range allowedSpellings {
				if _, body := request(target, harness.Bingbot); strings.Contains(body, "does not allow") {
					t.Errorf("%q is blocked: %s", target, body)
				}
			}
		})
	}
}
