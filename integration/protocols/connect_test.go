package protocols

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProtocolsConnect opens WebSockets over HTTP/3 (RFC 9220), and sends HTTP/2
// requests that Go's client does not send. Wherever the path is, either the guard
// evaluates it or Caddy rejects the request.
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
	http3 := protocols[len(protocols)-1]
	for _, tc := range []struct {
		path, userAgent string
		status          int
	}{
		{"/socket", harness.Firefox, 200},
		{"/socket", harness.Bingbot, 200},
		{"/private/socket", harness.Firefox, 200},
		{"/private/socket", harness.Bingbot, 403},
		{"/socket", harness.GPTBot, 403},
	} {
		in, out := io.Pipe()
		r, err := http.NewRequest(http.MethodConnect, s.at(http3, tc.path), in)
		if err != nil {
			t.Fatal(err)
		}
		r.Proto = "websocket"
		r.Header.Set("User-Agent", tc.userAgent)
		response, err := http3.client(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != tc.status {
			t.Errorf("a WebSocket at %s as %q: got %d, want %d", tc.path, tc.userAgent, response.StatusCode, tc.status)
		}
		if response.StatusCode == 200 {
			echo := make([]byte, 5)
			go func() { _, _ = io.WriteString(out, "hello") }() // returns when the pipe is closed
			if _, err := io.ReadFull(response.Body, echo); err != nil || string(echo) != "hello" {
				t.Errorf("a WebSocket at %s as %q echoes %q, %v", tc.path, tc.userAgent, echo, err)
			}
		}
		_ = response.Body.Close()
		_ = in.Close()
	}

	host := "a.test:" + s.clear
	for _, tc := range []struct {
		name   string
		fields []string
		want   string // "reset" or a status
	}{
		{"plain", []string{":method", "GET", ":scheme", "http", ":authority", host, ":path", "/private/x"}, "403"},
		{"absolute form", []string{":method", "GET", ":scheme", "http", ":authority", host, ":path", "http://a.test/private/x"}, "reset"},
		{"another host in the Host field", []string{":method", "GET", ":scheme", "http", ":authority", host, ":path", "/private/x", "host", "open.test"}, "reset"},
		{"OPTIONS *", []string{":method", "OPTIONS", ":scheme", "http", ":authority", host, ":path", "*"}, "200"},
		{"OPTIONS with a path", []string{":method", "OPTIONS", ":scheme", "http", ":authority", host, ":path", "/private/x"}, "403"},
		{"CONNECT with a path", []string{":method", "CONNECT", ":scheme", "http", ":authority", host, ":path", "/private/x"}, "reset"},
		{"CONNECT with a path in the authority", []string{":method", "CONNECT", ":authority", host + "/private/x"}, "reset"},
	} {
		if got := overH2C(t, s.clear, append(tc.fields, "user-agent", harness.Bingbot)); got != tc.want {
			t.Errorf("%s over h2c: got %s, want %s; the origin got it %d times", tc.name, got, tc.want, o.Requests("/private/x"))
		}
	}
	if n := o.Requests("/private/x"); n != 0 {
		t.Errorf("the origin got the disallowed path %d times", n)
	}
}

// overH2C sends a request with the given fields, which alternate names and values. It
// returns the status, or "reset".
func overH2C(t *testing.T, port string, fields []string) string {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(harness.Patience))
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	framer := http2.NewFramer(conn, bufio.NewReader(conn))
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err.Error()
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			return frame.PseudoValue("status")
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return "reset"
		}
	}
}
