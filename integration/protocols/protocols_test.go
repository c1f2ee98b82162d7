package protocols

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// protocol is a version of HTTP with its transport.
type protocol struct {
	name   string
	major  int // as in http.Request.ProtoMajor
	secure bool
	// transport returns a transport that uses only this version of HTTP. It connects to
	// the loopback interface for every host and does not verify certificates.
	transport func(t *testing.T, config *tls.Config) http.RoundTripper
}

// protocols are all versions of HTTP that Caddy supports.
var protocols = []protocol{
	{"HTTP/1.0", 1, false, func(*testing.T, *tls.Config) http.RoundTripper { return http10{} }},
	{"HTTP/1.1", 1, false, overTCP((*http.Protocols).SetHTTP1)},
	{"HTTP/2", 2, true, overTCP((*http.Protocols).SetHTTP2)},
	{"h2c", 2, false, overTCP((*http.Protocols).SetUnencryptedHTTP2)},
	{"HTTP/3", 3, true, overQUIC},
}

// client returns a client of this version that keeps its connections until the end of
// the test.
func (p protocol) client(t *testing.T) *http.Client {
	return p.clientWith(t, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a CA of this test's own
}

func (p protocol) clientWith(t *testing.T, config *tls.Config) *http.Client {
	t.Helper()
	return &http.Client{
		Transport:     p.transport(t, config),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       harness.Patience,
	}
}

// bilingual consists of two sites with the same content $SITE: without TLS at $CLEAR,
// with TLS at $PORT.
const bilingual = `(site) {
	$SITE
}
http://a.test:$CLEAR {
	import site
}
https://a.test:$PORT {
	tls internal
	import site
}
`

// anyProtocol is the global option that enables all versions of HTTP.
const anyProtocol = "servers {\n protocols h1 h2 h2c h3\n }"

// polyglot is a server of a site in all versions of HTTP.
type polyglot struct {
	*harness.Server
	t     *testing.T
	clear string // port without TLS
}

// servePolyglot serves a site in all versions of HTTP. When it returns, there is a
// certificate, but the guard has not fetched robots.txt.
func servePolyglot(t *testing.T, site string, replace ...string) polyglot {
	t.Helper()
	p := polyglot{t: t, clear: harness.FreePort(t)}
	p.Server = harness.Serve(t, bilingual, append([]string{"$SITE", site, "$CLEAR", p.clear, "$GLOBAL", anyProtocol}, replace...)...)
	p.WaitFor("127.0.0.1:" + p.clear)
	awaitTLS(t, p.Server, "a.test")
	return p
}

// awaitTLS waits until the server has a certificate for a host.
func awaitTLS(t *testing.T, s *harness.Server, host string) {
	t.Helper()
	harness.Eventually(t, "the server has a certificate for "+host, func() bool {
		conn, err := tls.Dial("tcp", "127.0.0.1:"+s.Port, &tls.Config{ServerName: host, InsecureSkipVerify: true}) //nolint:gosec // see above
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

// at returns the URL of a path for a version of HTTP.
func (p polyglot) at(by protocol, path string) string {
	if by.secure {
		return "https://a.test:" + p.Port + path
	}
	return "http://a.test:" + p.clear + path
}

// warm makes the guard fetch robots.txt, with and without TLS.
func (p polyglot) warm() {
	p.t.Helper()
	for _, url := range []string{"http://a.test:" + p.clear, "https://a.test:" + p.Port} {
		p.WarmURL(url + "/")
	}
}

// overTCP returns a function that creates transports for one version of HTTP only.
func overTCP(choose func(*http.Protocols, bool)) func(*testing.T, *tls.Config) http.RoundTripper {
	return func(t *testing.T, config *tls.Config) http.RoundTripper {
		transport := &http.Transport{
			DisableCompression:    true,
			TLSClientConfig:       config.Clone(),
			ExpectContinueTimeout: harness.Patience, // never sends a body without 100 Continue
			Protocols:             new(http.Protocols),
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
			},
		}
		choose(transport.Protocols, true)
		t.Cleanup(transport.CloseIdleConnections)
		return transport
	}
}

// overQUIC returns an HTTP/3 transport.
func overQUIC(t *testing.T, config *tls.Config) http.RoundTripper {
	transport := &http3.Transport{
		DisableCompression: true,
		TLSClientConfig:    config.Clone(),
		Dial:               dialQUIC,
	}
	t.Cleanup(func() { _ = transport.Close() })
	return transport
}

// dialQUIC connects to the loopback interface for every host.
func dialQUIC(ctx context.Context, address string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return quic.DialAddrEarly(ctx, "127.0.0.1:"+port, config, settings)
}

// http10 is a transport for HTTP/1.0, which net/http does not support.
type http10 struct{}

// RoundTrip implements [http.RoundTripper].
func (http10) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, err := net.Dial("tcp", "127.0.0.1:"+r.URL.Port())
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(r.Context(), func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(harness.Patience))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.0\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.URL.Host)
	_ = r.Header.Write(&b)
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		_ = conn.Close()
		return nil, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		stop()
		_ = conn.Close()
		return nil, err
	}
	response.Body = closing{response.Body, conn, stop}
	return response, nil
}

// closing is a body that closes its connection.
type closing struct {
	io.Reader
	conn net.Conn
	stop func() bool
}

func (c closing) Close() error {
	c.stop()
	return c.conn.Close()
}
