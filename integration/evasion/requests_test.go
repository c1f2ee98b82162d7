package evasion

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// secretive returns an origin that serves SECRET below /private/ in any spelling. The
// hosts closed.b.test and index.b.test have their own robots.txt.
func secretive(t *testing.T) *harness.Origin {
	t.Helper()
	rules := map[string]string{"closed": "/", "index": "/$"}
	return harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		host, _, _ := strings.Cut(r.Host, ".")
		switch {
		case r.URL.Path == "/robots.txt" && rules[host] != "":
			fmt.Fprint(w, "User-agent: *\nDisallow: "+rules[host])
		case strings.HasPrefix(path.Clean(r.URL.Path), "/private"):
			fmt.Fprint(w, "SECRET")
		default:
			return false
		}
		return true
	})
}

// inner is a request in or after the body of another one.
const inner = "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n"

var long = strings.Repeat("x", 300)

// unusual are requests for a disallowed page, and a few for other pages.
var unusual = []struct {
	name   string
	start  string // method and target, or also the version and the Host; "" for GET /private/x
	rest   string // more header fields, and the body after an empty line
	status string // of the first response, 0 for none; several if the result may vary
}{
	{"plain", "", "", "403"},
	// Hosts.
	{"a host in capitals", "GET /private/x HTTP/1.1\r\nHost: A.TEST:$PORT", "", "403"},
	{"a host with a final dot", "GET /private/x HTTP/1.1\r\nHost: a.test.:$PORT", "", "403"},
	{"a host with two final dots", "GET /private/x HTTP/1.1\r\nHost: a.test..:$PORT", "", "403"},
	{"an IPv6 address", "GET /private/x HTTP/1.1\r\nHost: [::1]:$PORT", "", "403"},
	{"another port", "GET /private/x HTTP/1.1\r\nHost: a.test:1", "", "403"},
	{"a port that is not a number", "GET /private/x HTTP/1.1\r\nHost: a.test:x", "", "403"},
	{"a port out of range", "GET /private/x HTTP/1.1\r\nHost: a.test:99999999", "", "403"},
	{"a port with very many zeros", "GET /private/x HTTP/1.1\r\nHost: a.test:" + strings.Repeat("0", 300) + "80", "", "403"},
	{"an empty port", "GET /private/x HTTP/1.1\r\nHost: a.test:", "", "403"},
	{"a host that is too long for DNS", "GET /private/x HTTP/1.1\r\nHost: " + long + ".test:$PORT", "", "403"},
	{"a long host of a wildcard site", "GET /private/x HTTP/1.1\r\nHost: " + long + ".b.test:$PORT", "", "403"},
	{"a host of a thousand labels", "GET /private/x HTTP/1.1\r\nHost: " + strings.Repeat("x.", 1000) + "test", "", "403"},
	{"no host", "GET /private/x HTTP/1.1\r\nHost:", "", "400"},
	{"a host in raw UTF-8", "GET /private/x HTTP/1.1\r\nHost: \xc3\xa9.test", "", "400"},
	{"two hosts", "", "Host: b.test", "400"},
	{"the host twice", "", "Host: a.test:$PORT", "400"},
	{"a folded host", "GET /private/x HTTP/1.1\r\nHost:\r\n a.test:$PORT", "", "403"},
	{"an absolute form", "GET http://a.test:$PORT/private/x", "", "403"},
	{"an absolute form and another host", "GET http://a.test:$PORT/private/x HTTP/1.1\r\nHost: closed.b.test", "", "403"},
	{"an absolute form by HTTP/1.0 without a host", "GET http://a.test:$PORT/private/x HTTP/1.0", "", "403"},
	// Bodies for which two servers may find different ends.
	{"a body with GET", "", "Content-Length: 4\r\n\r\nbody", "403"},
	{"a chunked body", "POST /private/x", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "403"},
	{"extensions of chunks, and a trailer", "", "Transfer-Encoding: chunked\r\n\r\n4;a=\"b\"\r\nbody\r\n0\r\nUser-Agent: Mozilla/5.0\r\n\r\n", "403"},
	{"a length and chunks", "POST /page", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner, "200 400"},
	{"chunks and a length", "POST /page", "Transfer-Encoding: chunked\r\nContent-Length: 200\r\n\r\n0\r\n\r\n" + inner, "200 400"},
	{"two lengths", "POST /page", "Content-Length: 0\r\nContent-Length: 5\r\n\r\n" + inner, "400"},
	{"a length with a sign", "POST /page", "Content-Length: +0\r\n\r\n" + inner, "400"},
	{"another transfer coding", "POST /private/x", "Transfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n", "501 400"},
	{"chunks of another case", "POST /page", "Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n" + inner, "200 501"},
	{"chunks behind a vertical tab", "POST /page", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + inner, "400 501"},
	{"a request in a body", "POST /page", "Content-Length: 10\r\n\r\n0123456789" + inner, "200"},
	{"a browser's request before", "GET /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: " + harness.Firefox + "\r\n\r\nGET /private/x", "", "200"},
	{"a request for robots.txt before", "GET /robots.txt", "\r\n" + inner, "200"},
	{"a header that does not end", "", "X: y\r\n ", "403"},
	// Fields with special meanings.
	{"Expect", "POST /private/x", "Expect: 100-continue\r\nContent-Length: 4\r\n\r\nbody", "403"},
	{"another expectation", "", "Expect: x", "417"},
	{"an upgrade to WebSocket", "", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "403"},
	{"an upgrade to h2c", "", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "403"},
	{"an upgrade to TLS", "", "Connection: Upgrade\r\nUpgrade: TLS/1.0", "403"},
	{"Range", "", "Range: bytes=0-0,-1", "403"},
	{"conditions", "", "If-None-Match: \"x\"\r\nIf-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\nIf-Range: \"x\"", "403"},
	{"only if cached", "", "Cache-Control: only-if-cached\r\nPragma: no-cache", "403"},
	{"Max-Forwards", "OPTIONS /private/x", "Max-Forwards: 0", "403"},
	{"a cookie and credentials", "", "Cookie: robots=allowed\r\nAuthorization: Basic eDp5", "403"},
	{"fields that remove the User-Agent", "", "Connection: close, User-Agent", "403"},
	// Fields from which some servers take the path, the method or the client.
	{"X-Original-URL", "", "X-Original-URL: /robots.txt", "403"},
	{"X-Rewrite-URL", "", "X-Rewrite-URL: /page", "403"},
	{"X-Forwarded-Uri and similar fields", "", "X-Forwarded-Uri: /page\r\nX-Forwarded-Path: /page\r\nX-Original-URI: /page\r\nX-Accel-Redirect: /page", "403"},
	{"X-HTTP-Method-Override", "", "X-HTTP-Method-Override: OPTIONS\r\nX-Method-Override: CONNECT", "403"},
	{"forwarded for 127.0.0.1", "", "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1;host=b.test\r\nClient-IP: ::1", "403"},
	{"other names of the host", "", "X-Forwarded-Host: open.test\r\nX-Host: b.test\r\nX-HTTP-Host-Override: b.test", "403"},
	{"a long forwarded host", "", "X-Forwarded-Host: " + long, "403"},
	{"X-Forwarded-Prefix", "", "X-Forwarded-Prefix: /public\r\nX-Script-Name: /public", "403"},
	{"fields that imitate the guard", "", "X-Robots-Guard: 1\r\nVia: 1.1 Caddy\r\nFrom: RobotsGuard/1.0", "403"},
	{"X-Middleware-Subrequest", "", "X-Middleware-Subrequest: 1\r\nX-Purpose: preview\r\nSec-Purpose: prefetch", "403"},
	// Lines.
	{"a field of 15,000 bytes", "", "X: " + strings.Repeat("x", 15_000), "403"},
	{"a hundred fields", "", strings.TrimSpace(strings.Repeat("X: y\r\n", 100)), "403"},
	{"a field without a value", "", "X:", "403"},
	{"a field without a colon", "", "X", "400"},
	{"empty lines before", "\r\n\r\nGET /private/x HTTP/1.1\r\nHost: a.test:$PORT", "", "400 403"},
	{"a tab in the request line", "GET\t/private/x HTTP/1.1\r\nHost: a.test:$PORT", "", "400"},
	{"two spaces in the request line", "GET  /private/x", "", "400"},
	{"a line feed alone", "GET /private/x HTTP/1.1\nHost: a.test:$PORT", "", "403"},
	{"HTTP/1.0", "GET /private/x HTTP/1.0\r\nHost: a.test:$PORT", "", "403"},
	{"HTTP/1.0 without a host", "GET /private/x HTTP/1.0", "", "403"},
	{"HTTP/1.2", "GET /private/x HTTP/1.2\r\nHost: a.test:$PORT", "", "403 505 400"},
	{"HTTP/3.0 in a line", "GET /private/x HTTP/3.0\r\nHost: a.test:$PORT", "", "505 400"},
	{"no version", "GET /private/x\r\nHost: a.test:$PORT", "", "400"},
	// Methods.
	{"HEAD", "HEAD /private/x", "", "403"},
	{"TRACE", "TRACE /private/x", "", "403"},
	{"PROPFIND", "PROPFIND /private/x", "Depth: 0", "403"},
	{"QUERY", "QUERY /private/x", "Content-Length: 0", "403"},
	{"PRI", "PRI /private/x", "", "403"},
	{"an unknown method", "FETCH /private/x", "", "403"},
	{"a method in lower case", "get /private/x", "", "403"},
	{"a method of 30 letters", strings.Repeat("G", 30) + " /private/x", "", "403"},
	{"a method of a thousand letters", strings.Repeat("G", 1000) + " /private/x", "", "405"},
	{"an invalid method", "G(T /private/x", "", "400"},
	{"OPTIONS without a path", "OPTIONS *", "", "200"},
	{"CONNECT without a path", "CONNECT a.test:80", "", "200"},
	{"CONNECT with a path", "CONNECT /private/x", "", "403"},
	{"CONNECT with an allowed path", "CONNECT /x", "", "200"},
	{"CONNECT with a host and a path", "CONNECT a.test:$PORT/private/x", "", "403"},
	{"CONNECT with a host and an allowed path", "CONNECT a.test:$PORT/x", "", "200"},
	{"CONNECT with dot segments", "CONNECT a.test:$PORT/x/../private/x", "", "403"},
	// Targets.
	{"a fragment", "GET /private/x#/page", "", "403"},
	{"an empty path", "GET ", "", "400"},
	{"no slash", "GET private/x", "", "400"},
	{"a scheme and no slash", "GET x:public/y HTTP/1.1\r\nHost: index.b.test:$PORT", "", "403"},
	{"a star", "GET * HTTP/1.1\r\nHost: closed.b.test:$PORT", "", "403"},
	{"a NUL", "GET /private/x\x00", "", "400"},
	{"an escaped NUL", "GET /private/%00", "", "403"},
	{"a control", "GET /private/\x01x", "", "400"},
	{"a bad escape", "GET /private/%zz", "", "400"},
	{"parameters", "GET /private/;a=b/x;c", "", "403"},
	{"Unicode", "GET /private/\xe2\x98\x83", "", "403"},
	{"invalid UTF-8", "GET /private/\xff\xfe", "", "403"},
	{"14,000 bytes", "GET /private/" + strings.Repeat("x", 14_000), "", "403"},
	{"more bytes than the server accepts", "GET /private/" + strings.Repeat("x", 1_100_000), "", "431 0"},
	{"a query of 14,000 bytes", "GET /private/?" + strings.Repeat("/page&", 2300), "", "403"},
	// Paths that always pass, and similar ones.
	{"robots.txt", "GET /robots.txt HTTP/1.1\r\nHost: closed.b.test", "", "200"},
	{"robots.txt with a query", "GET /robots.txt? HTTP/1.1\r\nHost: closed.b.test", "", "200"},
	{"robots.txt in absolute form", "GET http://closed.b.test/robots.txt", "", "200"},
	{"robots.txt with an escape", "GET /robots.tx%74 HTTP/1.1\r\nHost: closed.b.test", "", "200"},
	{"out of robots.txt", "GET /x/../robots.txt/../secret HTTP/1.1\r\nHost: closed.b.test", "", "403"},
	{"below robots.txt", "GET /robots.txt/x HTTP/1.1\r\nHost: closed.b.test", "", "403"},
	{"out of the ACME challenges", "GET /.well-known/acme-challenge/x/../../../secret HTTP/1.1\r\nHost: closed.b.test", "", "403"},
	{"out of the ACME challenges with escapes", "GET /.well-known/acme-challenge/..%2f..%2fsecret HTTP/1.1\r\nHost: closed.b.test", "", "403"},
	{"POST for an ACME challenge", "POST /.well-known/acme-challenge/token HTTP/1.1\r\nHost: closed.b.test", "Content-Length: 0", "200"}, // the * group does not apply there
}

// TestEvasionRequests sends unusual requests for a disallowed page. None of them may be
// served, including a second request over the same connection. Only requests without a
// path are not evaluated.
func TestEvasionRequests(t *testing.T) {
	t.Parallel()
	o := secretive(t)
	s := harness.Serve(t, `http://a.test:$PORT, http://*.b.test:$PORT, http://:$PORT {
		robots_guard enforce {
			fetch_wait 20s
			fetch_timeout 20s
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	if a := harness.Get(t, s.URL("/private/x"), harness.Firefox); a.Body != "SECRET" {
		t.Fatalf("a browser got %d %q", a.Status, a.Body)
	}
	for _, tc := range unusual {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			request := tc.start
			if request == "" {
				request = "GET /private/x"
			}
			if last := request[strings.LastIndex(request, "\r\n\r\n")+1:]; !strings.Contains(last, "HTTP/") && !strings.Contains(last, "Host:") {
				request += " HTTP/1.1\r\nHost: a.test:$PORT"
			}
			request += "\r\nUser-Agent: $UA\r\n"
			if !strings.Contains(tc.rest, "Connection: ") {
				request += "Connection: close\r\n"
			}
			if request += tc.rest; !strings.Contains(tc.rest, "\r\n\r\n") {
				request += strings.Repeat("\r\n", 1+min(len(tc.rest), 1))
			}
			all := exchangeBytes(t, s, strings.NewReplacer("$PORT", s.Port, "$UA", harness.Bingbot).Replace(request))
			status := "0" // the connection was closed
			if fields := strings.Fields(all); len(fields) > 1 {
				status = fields[1]
			}
			if !slices.Contains(strings.Fields(tc.status), status) {
				t.Errorf("got %.200q, want %s", all, tc.status)
			}
			if strings.Contains(all, "SECRET") {
				t.Errorf("the page was served: %.300q", all)
			}
		})
	}
	t.Run("a connection after a blocked request", func(t *testing.T) {
		t.Parallel()
		post := func(target, more string) string {
			return "POST " + target + " HTTP/1.1\r\nHost: a.test\r\nUser-Agent: " + harness.Bingbot + "\r\n" + more + "Content-Length: 1000\r\n\r\n" + strings.Repeat("x", 1000)
		}
		all := exchangeBytes(t, s, post("/private/x", "")+post("/open", "")+post("/private/x", "")+post("/open", "Connection: close\r\n"))
		answers := bufio.NewReader(strings.NewReader(all))
		for i, want := range []int{403, 200, 403, 200} {
			response, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			if _, _ = io.Copy(io.Discard, response.Body); response.StatusCode != want {
				t.Errorf("request %d: got %d, want %d", i, response.StatusCode, want)
			}
		}
	})
}

// exchangeBytes sends bytes over a new connection and returns all received bytes, until
// the server closes the connection or sends nothing for a second.
func exchangeBytes(t *testing.T, s *harness.Server, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }() // fails if the server stops reading
	var all bytes.Buffer
	buf := make([]byte, 64<<10)
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		n, err := conn.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			return all.String()
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	}
}
