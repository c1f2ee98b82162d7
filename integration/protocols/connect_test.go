package protocols

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProtocolsConnect opens WebSockets over HTTP/1.1 and HTTP/3 (RFC 9220). The guard
// evaluates the path.
func TestProtocolsConnect(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Upgrade") != "websocket" {
			return false
		}
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return true
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.CopyN(conn, in, 5)
		return true
	})
	s := servePolyglot(t, "robots_guard enforce\n reverse_proxy $ORIGIN", "$ORIGIN", o.Address())
	s.warm()
	for _, by := range []protocol{protocols[1], protocols[4]} {
		for _, tc := range []struct {
			path, userAgent string
			status          int // 0 for an open WebSocket
		}{
			{"/socket", harness.Firefox, 0},
			{"/socket", harness.Bingbot, 0},
			{"/socket", "", 0},
			{"/private/socket", harness.Firefox, 0},
			{"/private/socket", harness.Bingbot, 403},
			{"/socket", harness.GPTBot, 403},
		} {
			in, out := io.Pipe()
			r, err := http.NewRequest(http.MethodGet, s.at(by, tc.path), nil)
			if err != nil {
				t.Fatal(err)
			}
			open := http.StatusSwitchingProtocols
			r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "User-Agent": {tc.userAgent}}
			if by.major == 3 {
				open = http.StatusOK
				r.Method, r.Proto, r.Body = http.MethodConnect, "websocket", in
				r.Header = http.Header{"User-Agent": {tc.userAgent}}
			}
			response, err := by.client(t).Transport.RoundTrip(r) // a client with a timeout hides the connection
			if err != nil {
				t.Fatal(err)
			}
			if want := cmp.Or(tc.status, open); response.StatusCode != want {
				t.Errorf("%s as %q by %s: got %d, want %d", tc.path, tc.userAgent, by.name, response.StatusCode, want)
			} else if tc.status == 0 {
				var to io.Writer = out
				if by.major == 1 {
					to = response.Body.(io.Writer)
				}
				echo := make([]byte, 5)
				go func() { _, _ = io.WriteString(to, "hello") }() // returns when the pipe is closed
				if _, err := io.ReadFull(response.Body, echo); err != nil || string(echo) != "hello" {
					t.Errorf("%s as %q by %s echoes %q, %v", tc.path, tc.userAgent, by.name, echo, err)
				}
			}
			_ = response.Body.Close()
			_ = in.Close()
		}
	}
	if n := o.Requests("/private/socket"); n != 2 {
		t.Errorf("the origin got the disallowed path %d times, want 2 from browsers", n)
	}
}
