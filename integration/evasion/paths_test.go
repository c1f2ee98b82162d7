package evasion

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

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

// serveLiteral runs an origin that parses the request line itself and takes the part
// after a scheme for the path. It returns the address of the origin.
func serveLiteral(t *testing.T, robots string) string {
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
				body = robots
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

// TestEvasionPaths requests targets that servers resolve differently. If a spelling
// returns the disallowed page to a browser, a crawler must be blocked for that
// spelling.
func TestEvasionPaths(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /private/\nAllow: /public/pages/\n"
	root := harness.Files(t, map[string]string{"robots.txt": robots, "private/x.txt": "SECRET", "doc.pdf": "SECRET", "public/y.txt": "public", "x.txt": "page"})
	// Many Go programs clean the path and look it up.
	cleaned := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		switch path.Clean("/" + r.URL.Path) {
		case "/doc.pdf", "/private/x.txt":
			fmt.Fprint(w, "SECRET")
			return true
		}
		return false
	})
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	t.Cleanup(server.Close)
	asSent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // as Express, Flask and Django do
		switch {
		case r.URL.Path == "/robots.txt":
			_, _ = io.WriteString(w, robots)
		case strings.HasPrefix(r.URL.Path, "/private/"):
			_, _ = io.WriteString(w, "SECRET")
		}
	}))
	t.Cleanup(asSent.Close)
	for name, tc := range map[string]struct {
		site   func(*testing.T) string
		served string // a target that it serves, to validate the test
	}{
		"file_server": {func(*testing.T) string { return "root " + root + "\n file_server" }, "/doc.pdf/."},
		"path.Clean":  {func(*testing.T) string { return "reverse_proxy " + cleaned.Address() }, "/doc.pdf%2f%2e"},
		"Go":          {func(*testing.T) string { return "reverse_proxy " + server.Listener.Addr().String() }, "/x//..//private/x.txt"},
		"nginx":       {func(t *testing.T) string { return "reverse_proxy " + serveNginx(t, root) }, "/x//..//private/x.txt"},
		"nginx, merge_slashes off": {func(t *testing.T) string {
			return "reverse_proxy " + serveNginx(t, root, "merge_slashes off;")
		}, "/private//..%2Fx.txt"},
		"as sent":                {func(*testing.T) string { return "reverse_proxy " + asSent.Listener.Addr().String() }, "/private/x/../../public"},
		"what follows the colon": {func(t *testing.T) string { return "reverse_proxy " + serveLiteral(t, robots) }, "x:private/x.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "http://a.test:$PORT, http://:$PORT {\n robots_guard enforce {\n fetch_wait 20s\n fetch_timeout 20s\n }\n "+tc.site(t)+"\n}")
			request := func(target, userAgent string) (status int, body string) {
				return harness.Raw(t, s, "GET "+target+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: "+userAgent+"\r\nConnection: close\r\n\r\n")
			}
			var served []string
			for _, target := range append(resolvedSpellings, harness.Spellings()...) {
				target = strings.ReplaceAll(target, "$PORT", s.Port)
				if _, body := request(target, harness.Firefox); !strings.Contains(body, "SECRET") {
					continue
				}
				served = append(served, target)
				if status, body := request(target, harness.Bingbot); status != 403 || strings.Contains(body, "SECRET") {
					t.Errorf("%.200q: a crawler got %d %.50q, but a browser gets the disallowed file", target, status, body)
				}
			}
			if !slices.Contains(served, tc.served) {
				t.Errorf("%s does not reach the file; check the test's site", tc.served)
			}
			t.Logf("%d spellings served", len(served))
			for _, target := range allowedSpellings {
				if _, body := request(target, harness.Bingbot); strings.Contains(body, "does not allow") {
					t.Errorf("%q is blocked: %s", target, body)
				}
			}
		})
	}
}

// TestTwoInterpretations sends requests of crawlers that accept a misspelt line, and of
// others. A crawler that ignores the line is not blocked because of it.
func TestTwoInterpretations(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce
		handle /robots.txt {
			respond <<R
				User-agent: *
				Crawl-delay: 10
				User-agent: badbot
				Disallow: /

				User-agent: *
				Disallow: /both
				Disalow: /shop/
				Disallow /old/

				useragent: AhrefsBot
				Disallow: /ahrefs
				R
		}
		handle {
			respond "page"
		}
	}`)
	s.Warm("/")
	const (
		googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
		gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
		ahrefs    = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
		badbot    = "badbot/1.0 (+http://bad.test/bot)"
	)
	for _, tc := range []struct {
		userAgent, path string
		status          int
	}{
		{harness.Bingbot, "/both", 403},
		{harness.Bingbot, "/shop/1", 200},
		{harness.Bingbot, "/old/1", 200},
		{harness.Bingbot, "/", 200},
		{gptbot, "/both", 403},
		{gptbot, "/shop/1", 200},
		{gptbot, "/old/1", 200},
		{googlebot, "/both", 403},
		{googlebot, "/shop/1", 403},
		{googlebot, "/old/1", 403},
		{googlebot, "/", 200},
		{googlebot, "/ahrefs", 200},
		{ahrefs, "/ahrefs", 403}, // its own group for crawlers that accept the line, * for others
		{ahrefs, "/both", 200},
		{badbot, "/", 403},
	} {
		status, body := harness.Raw(t, s, "GET "+tc.path+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: "+tc.userAgent+"\r\nConnection: close\r\n\r\n")
		if status != tc.status {
			t.Errorf("%.60s for %s: got %d %.200q, want %d", tc.userAgent, tc.path, status, body, tc.status)
		}
	}
}
