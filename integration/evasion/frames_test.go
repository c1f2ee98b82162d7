package evasion

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestEvasionHTTP2 sends pseudo-header fields that ordinary clients do not send.
func TestEvasionHTTP2(t *testing.T) {
	t.Parallel()
	o := secretive(t)
	s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address(), "$GLOBAL", "servers {\n protocols h1 h2 h2c h3\n }")
	s.Warm("/")
	type fields [][2]string
	const reset = 0 // the stream or the connection ends without a response
	host := "a.test:" + s.Port
	get := func(path string, more ...[2]string) fields {
		return append(fields{{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", path}, {"user-agent", harness.Bingbot}}, more...)
	}
	for _, tc := range []struct {
		name   string
		fields fields
		status []int
	}{
		{"plain", get("/private/x"), []int{403}},
		{"allowed", get("/page"), []int{200}},
		{"a host that differs from the authority", get("/private/x", [2]string{"host", "b.test"}), []int{403, 400, reset}},
		{"a host instead of the authority", fields{{":method", "GET"}, {":scheme", "http"}, {":path", "/private/x"}, {"host", host}, {"user-agent", harness.Bingbot}}, []int{403, 400, reset}},
		{"another scheme", fields{{":method", "GET"}, {":scheme", "https"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", harness.Bingbot}}, []int{403, 400}},
		{"no scheme", fields{{":method", "GET"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", harness.Bingbot}}, []int{400, 403, reset}},
		{"credentials in the authority", fields{{":method", "GET"}, {":scheme", "http"}, {":authority", "u:p@" + host}, {":path", "/private/x"}, {"user-agent", harness.Bingbot}}, []int{400, 403, 404, reset}},
		{"an absolute path", get("http://" + host + "/private/x"), []int{400, 403, reset}},
		{"no slash", get("private/x"), []int{400, reset}},
		{"an empty path", get(""), []int{400, reset}},
		{"a space in the path", get("/private/x HTTP/1.1"), []int{400, 403, reset}},
		{"a line end in the path", get("/page HTTP/1.1\r\nX: y"), []int{400, reset}},
		{"two paths", get("/page", [2]string{":path", "/private/x"}), []int{400, reset}},
		{"a path after the header fields", fields{{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {"user-agent", harness.Bingbot}, {":path", "/private/x"}}, []int{400, reset}},
		{"an unknown pseudo-field", get("/private/x", [2]string{":user-agent", harness.Firefox}), []int{400, reset}},
		{"capitals", fields{{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", "/private/x"}, {"User-Agent", harness.Bingbot}}, []int{400, reset}},
		{"two User-Agents", get("/private/x", [2]string{"user-agent", harness.Firefox}), []int{403}},
		{"the crawler's is the second", fields{{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", harness.Firefox}, {"user-agent", harness.Bingbot}}, []int{403}},
		{"many cookies", get("/private/x", [2]string{"cookie", "a=b"}, [2]string{"cookie", "c=d"}), []int{403}},
		{"a transfer coding", get("/private/x", [2]string{"transfer-encoding", "chunked"}), []int{400, 403, reset}},
		{"a connection field", get("/private/x", [2]string{"connection", "user-agent"}), []int{400, 403, reset}},
		{"trailers", get("/private/x", [2]string{"te", "trailers"}), []int{403}},
		{"a line end in the User-Agent", fields{{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", "a\r\nuser-agent: b"}}, []int{400, reset}},
		{"CONNECT with a path", fields{{":method", "CONNECT"}, {":authority", host}, {":path", "/private/x"}, {":scheme", "http"}, {"user-agent", harness.Bingbot}}, []int{400, 403, reset}},
		{"CONNECT with a path in the authority", fields{{":method", "CONNECT"}, {":authority", host + "/private/x"}, {"user-agent", harness.Bingbot}}, []int{400, 403, reset}},
		{"OPTIONS with a path", fields{{":method", "OPTIONS"}, {":scheme", "http"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", harness.Bingbot}}, []int{403}},
		{"OPTIONS without a path", fields{{":method", "OPTIONS"}, {":scheme", "http"}, {":authority", host}, {":path", "*"}, {"user-agent", harness.Bingbot}}, []int{200}},
		{"extended CONNECT", fields{{":method", "CONNECT"}, {":protocol", "websocket"}, {":scheme", "http"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", harness.Bingbot}}, []int{400, 403, reset}},
		{"an unknown method", fields{{":method", "FETCH"}, {":scheme", "http"}, {":authority", host}, {":path", "/private/x"}, {"user-agent", harness.Bingbot}}, []int{403}},
	} {
		status, body := exchangeFrames(t, s.Port, tc.fields)
		if !slices.Contains(tc.status, status) || strings.Contains(body, "SECRET") {
			t.Errorf("%s: got %d %.100q, want one of %v", tc.name, status, body, tc.status)
		}
	}
}

// exchangeFrames sends a request over HTTP/2 without TLS. It returns the status, 0
// without a response, and the body.
func exchangeFrames(t *testing.T, port string, fields [][2]string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, f := range fields {
		if err := encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return status, body
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			_, _ = fmt.Sscan(frame.PseudoValue("status"), &status)
		case *http2.DataFrame:
			body += string(frame.Data())
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return status, body
		}
		if frame.Header().Flags.Has(http2.FlagDataEndStream) && frame.Header().StreamID == 1 {
			return status, body
		}
	}
}
