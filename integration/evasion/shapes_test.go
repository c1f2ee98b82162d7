package evasion

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// secretive returns an origin that serves SECRET below /private/ in any spelling, and
// also for header fields that some servers use as the path.
func secretive(t *testing.T) *harness.Origin {
	t.Helper()
	return harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(path.Clean(r.URL.Path), "/private") {
			fmt.Fprint(w, "SECRET")
			return true
		}
		return false
	})
}

// TestEvasionShapes sends unusual requests for a disallowed page. None of them may be
// served, including a second request over the same connection.
func TestEvasionShapes(t *testing.T) {
	t.Parallel()
	o := secretive(t)
	s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	s.Warm("/")
	if a := harness.Get(t, s.URL("/private/x"), harness.Firefox); a.Body != "SECRET" {
		t.Fatalf("a browser got %d %q", a.Status, a.Body)
	}
	const (
		plain = "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n"
		inner = "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nConnection: close\r\n\r\n"
	)
	for _, tc := range []struct {
		name    string
		request string
		status  string // of the first response; several if the result may vary
	}{
		{"plain", plain + "\r\n", "403"},
		// Bodies for which two servers may find different ends.
		{"a body with GET", plain + "Content-Length: 4\r\n\r\nbody", "403"},
		{"a chunked body", "POST /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "403"},
		{"extensions of chunks, and a trailer", plain + "Transfer-Encoding: chunked\r\n\r\n4;a=\"b\"\r\nbody\r\n0\r\nUser-Agent: Mozilla/5.0\r\n\r\n", "403"},
		{"a length and chunks", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner, "200 400"},
		{"chunks and a length", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nTransfer-Encoding: chunked\r\nContent-Length: 200\r\n\r\n0\r\n\r\n" + inner, "200 400"},
		{"two lengths", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n" + inner, "400"},
		{"a length with a sign", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: +0\r\n\r\n" + inner, "400"},
		{"another transfer coding", "POST /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n", "501 400"},
		{"chunks of another case", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nTransfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n" + inner, "200 501"},
		{"chunks behind a vertical tab", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + inner, "400 501"},
		{"a request in a body", "POST /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: 10\r\n\r\n0123456789" + inner, "200"},
		{"a browser's request before", "GET /page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\r\n" + inner, "200"},
		{"a request for robots.txt before", "GET /robots.txt HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n" + inner, "200"},
		{"a header that does not end", plain + "X: y\r\n \r\n\r\n", "403"},
		// Fields with special meanings.
		{"Expect", "POST /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody", "403"},
		{"another expectation", plain + "Expect: x\r\n\r\n", "417"},
		{"an upgrade to WebSocket", plain + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", "403"},
		{"an upgrade to h2c", plain + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n", "403"},
		{"an upgrade to TLS", plain + "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n\r\n", "403"},
		{"Range", plain + "Range: bytes=0-0,-1\r\n\r\n", "403"},
		{"conditions", plain + "If-None-Match: \"x\"\r\nIf-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\nIf-Range: \"x\"\r\n\r\n", "403"},
		{"only if cached", plain + "Cache-Control: only-if-cached\r\nPragma: no-cache\r\n\r\n", "403"},
		{"Max-Forwards", "OPTIONS /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nMax-Forwards: 0\r\n\r\n", "403"},
		{"a cookie and credentials", plain + "Cookie: robots=allowed\r\nAuthorization: Basic eDp5\r\n\r\n", "403"},
		{"fields that remove the User-Agent", plain + "Connection: close, User-Agent\r\n\r\n", "403"},
		// Fields from which some servers take the path, the method or the client.
		{"X-Original-URL", plain + "X-Original-URL: /page\r\n\r\n", "403"},
		{"X-Rewrite-URL", plain + "X-Rewrite-URL: /robots.txt\r\n\r\n", "403"},
		{"X-Forwarded-Uri and similar fields", plain + "X-Forwarded-Uri: /page\r\nX-Forwarded-Path: /page\r\nX-Original-URI: /page\r\nX-Accel-Redirect: /page\r\n\r\n", "403"},
		{"X-HTTP-Method-Override", plain + "X-HTTP-Method-Override: OPTIONS\r\nX-Method-Override: CONNECT\r\n\r\n", "403"},
		{"forwarded for 127.0.0.1", plain + "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1;host=b.test\r\nClient-IP: ::1\r\n\r\n", "403"},
		{"other names of the host", plain + "X-Forwarded-Host: b.test\r\nX-Host: b.test\r\nX-HTTP-Host-Override: b.test\r\n\r\n", "403"},
		{"X-Forwarded-Prefix", plain + "X-Forwarded-Prefix: /public\r\nX-Script-Name: /public\r\n\r\n", "403"},
		{"the guard's own name", plain + "X-Robots-Guard: 1\r\nVia: 1.1 Caddy\r\n\r\n", "403"},
		{"X-Middleware-Subrequest", plain + "X-Middleware-Subrequest: 1\r\nX-Purpose: preview\r\nSec-Purpose: prefetch\r\n\r\n", "403"},
		// Lines.
		{"a field of 15,000 bytes", plain + "X: " + strings.Repeat("x", 15_000) + "\r\n\r\n", "403"},
		{"a hundred fields", plain + strings.Repeat("X: y\r\n", 100) + "\r\n", "403"},
		{"a field without a value", plain + "X:\r\n\r\n", "403"},
		{"a field without a colon", plain + "X\r\n\r\n", "400"},
		{"empty lines before", "\r\n\r\n" + plain + "\r\n", "400 403"},
		{"a folded host", "GET /private/x HTTP/1.1\r\nHost:\r\n a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"the host twice", "GET /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		{"an absolute form", "GET http://a.test:$PORT/private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"an absolute form and another host", "GET http://a.test:$PORT/private/x HTTP/1.1\r\nHost: b.test\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"an absolute form by HTTP/1.0 without a host", "GET http://a.test:$PORT/private/x HTTP/1.0\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"HTTP/1.2", "GET /private/x HTTP/1.2\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403 505 400"},
		{"HTTP/3.0 in a line", "GET /private/x HTTP/3.0\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "505 400"},
		{"no version", "GET /private/x\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		// Methods.
		{"TRACE", "TRACE /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"PROPFIND", "PROPFIND /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nDepth: 0\r\n\r\n", "403"},
		{"QUERY", "QUERY /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\nContent-Length: 0\r\n\r\n", "403"},
		{"PRI", "PRI /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"a method of 30 letters", strings.Repeat("G", 30) + " /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"a method of a thousand letters", strings.Repeat("G", 1000) + " /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "405"},
		{"an invalid method", "G(T /private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		// Targets.
		{"a fragment", "GET /private/x#/page HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"an empty path", "GET  HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		{"no slash", "GET private/x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		{"a NUL", "GET /private/x\x00 HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		{"an escaped NUL", "GET /private/%00 HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"a control", "GET /private/\x01x HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		{"a bad escape", "GET /private/%zz HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "400"},
		{"parameters", "GET /private/;a=b/x;c HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"Unicode", "GET /private/\xe2\x98\x83 HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"invalid UTF-8", "GET /private/\xff\xfe HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"14,000 bytes", "GET /private/" + strings.Repeat("x", 14_000) + " HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
		{"more bytes than the server accepts", "GET /private/" + strings.Repeat("x", 1_100_000) + " HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "431 0"},
		{"a query of 14,000 bytes", "GET /private/?" + strings.Repeat("/page&", 2300) + " HTTP/1.1\r\nHost: a.test:$PORT\r\nUser-Agent: $UA\r\n\r\n", "403"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			all := exchangeBytes(t, s, strings.NewReplacer("$PORT", s.Port, "$UA", harness.Bingbot).Replace(tc.request))
			status := "0" // the connection was closed
			if fields := strings.Fields(all); len(fields) > 1 {
				status = fields[1]
			}
			if !strings.Contains(" "+tc.status+" ", " "+status+" ") {
				t.Errorf("got %.200q, want %s", all, tc.status)
			}
			if strings.Contains(all, "SECRET") {
				t.Errorf("the page was served: %.300q", all)
			}
		})
	}
}

// exchangeBytes sends bytes over a new connection and returns all received bytes until
// a pause.
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
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	}
}
