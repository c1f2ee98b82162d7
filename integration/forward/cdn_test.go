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

// uncommented takes in the lines behind a comment that begins in this way, with another
// address. A text that has no such comment stays as it is.
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
		t.Fatalf("nothing is behind %s", comment)
	}
	return before + comment + about + "\n" + taken.String() + rest
}

// TestProxiesBehindACDN has another proxy before each, which the decision point knows
// nothing of. It is told the address that this one has seen, and none that a client wrote.
func TestProxiesBehindACDN(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const cdn = "127.0.0.2"
			var s *site
			if name == "traefik" { // which tells the decision point of the CDN, too
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
				// Each with a path of its own, by which its line is known.
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
								t.Errorf("from %s: %v at %v, want %s at example.com", from, request["client_ip"], request["host"], want)
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
