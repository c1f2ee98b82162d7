package forward

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// uncommented uncomments the lines after a comment that begins with the given text, and
// replaces an address in them. A text without that comment is unchanged.
func uncommented(t *testing.T, text, comment, was, address string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, comment)
	if !found {
		return text
	}
	about, rest, _ := strings.Cut(rest, "\n")
	var taken strings.Builder
	for {
		line, after, _ := strings.Cut(rest, "\n")
		line, found = strings.CutPrefix(strings.TrimSpace(line), "#")
		if !found {
			break
		}
		taken.WriteString(strings.ReplaceAll(line, was, address) + "\n")
		rest = after
	}
	if taken.Len() == 0 {
		t.Fatalf("no line follows %s", comment)
	}
	return before + comment + about + "\n" + taken.String() + rest
}

// TestProxiesBehindACDN puts another proxy in front of each proxy. The decision point
// does not know it. The decision point must receive the address that the outer proxy
// has seen, and none that a client sent.
func TestProxiesBehindACDN(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const cdn = "127.0.0.2"
			var s *site
			if name == "traefik" { // which forwards the CDN's address as well
				s = beside(t, "127.0.0.1/32", "127.0.0.1/32 "+cdn)
				s.edits = []string{"# forwardedHeaders: {trustedIPs: [203.0.113.0/24]}", "forwardedHeaders: {trustedIPs: [" + cdn + "]}",
					"trustForwardHeader: false", "trustForwardHeader: true", "[robots-guard] #", "[unsaid, robots-guard] #"}
			} else {
				s = beside(t)
				s.cdn = cdn
			}
			s.front(t, name)
			for from, want := range map[string]string{cdn: "192.0.2.7", "127.0.0.3": "127.0.0.3"} {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
				conn, err := dialer.Dial("tcp", "127.0.0.1:"+s.port)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				// Each request has its own path, which identifies its log line.
				if _, err := io.WriteString(conn, "GET /private/"+from+" HTTP/1.1\r\nHost: example.com\r\nUser-Agent: "+harness.Bingbot+
					"\r\nX-Forwarded-For: 66.249.66.1, 192.0.2.7\r\nX-Forwarded-Host: open.test\r\nX-Forwarded-Uri: /public/\r\nX-Forwarded-Method: OPTIONS\r\nConnection: close\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				if response, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || response.StatusCode != 403 {
					t.Fatal(response, err)
				}
				harness.Eventually(t, "a line with the address", func() bool {
					for _, line := range s.Lines("request disallowed by robots.txt") {
						request, _ := line["request"].(map[string]any)
						if request["uri"] == "/private/"+from {
							if request["client_ip"] != want || request["host"] != "example.com" {
								t.Errorf("from %s: client %v at host %v, want %s at example.com", from, request["client_ip"], request["host"], want)
							}
							return true
						}
					}
					return false
				})
			}
		})
	}
}
