package forward

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// lenient runs an application that responds to any request, and returns its address. It
// parses the bytes itself, because Go's server rejects unusual requests.
func lenient(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed at the end of the test
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewReader(conn); ; {
					line, err := lines.ReadString('\n')
					if err != nil {
						return
					}
					if strings.TrimSpace(line) == "" {
						break
					}
				}
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nSECRET")
			}()
		}
	}()
	return listener.Addr().String()
}

// TestProxiesInvalidRequests sends requests that the decision point's server or the proxy's own
// client rejects as invalid HTTP. Without a verdict a crawler must not pass.
func TestProxiesInvalidRequests(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := beside(t)
			s.to = lenient(t)
			s.front(t, name)
			if _, body := s.raw(t, harness.Firefox, "/private/x.txt"); body != "SECRET" {
				t.Fatalf("a browser gets %q", body)
			}
			for what, field := range map[string]string{
				"an ordinary request":  "Accept: */*",
				"a control character":  "Referer: a\x01b",
				"a delete":             "Accept: a\x7fb",
				"in a signature":       "Signature: a\x01b",
				"in the User-Agent":    "User-Agent: " + harness.Bingbot + "\x01",
				"invalid UTF-8":        "Referer: \xff\xfe",
				"many fields":          strings.Repeat("Accept: a\r\n", 95) + "Accept: a",
				"many names":           strings.Repeat("User-Agent: a\r\n", 94) + "User-Agent: a",
				"fields of every kind": strings.Repeat("Accept: a\r\nReferer: b\r\nSignature: c\r\n", 31) + "Accept: a",
			} {
				if status, body := s.raw(t, harness.Bingbot, "/private/x.txt", field); status == 200 || strings.Contains(body, "SECRET") {
					t.Errorf("%s: %d %.200q", what, status, body)
				}
			}
			// Up to a size that the decision point rejects with 431.
			large := false
			for size := 7000; size < 90000; size += 1000 {
				for _, odd := range [][2]string{{"/private/x.txt", "Referer: " + strings.Repeat("a", size)}, {"/private/x.txt?" + strings.Repeat("a", size), "Accept: */*"}} {
					status, body := s.raw(t, harness.Bingbot, odd[0], odd[1])
					large = large || status == 431
					if status == 200 || strings.Contains(body, "SECRET") {
						t.Errorf("%.20s of %d: %d %.200q", odd, size, status, body)
					}
				}
			}
			if name == "haproxy" && !large { // others stop such a request themselves, or respond with 500
				t.Error("no request was too large")
			}
		})
	}
}
