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

// protocol is a version of HTTP and how it is carried.
type protocol struct {
	name   string
	major  int // as in http.Request.ProtoMajor
	secure bool
	// transport returns a client that finds every host on the loopback interface,
	// and trusts everybody, by this protocol and no other.
	transport func(t *testing.T, config *tls.Config) http.RoundTripper
}

// protocols are all that Caddy speaks.
var protocols = []protocol{
	{"HTTP/1.0", 1, false, func(*testing.T, *tls.Config) http.RoundTripper { return http10{} }},
	{"HTTP/1.1", 1, false, overTCP((*http.Protocols).SetHTTP1)},
	{"HTTP/2", 2, true, overTCP((*http.Protocols).SetHTTP2)},
	{"h2c", 2, false, overTCP((*http.Protocols).SetUnencryptedHTTP2)},
	{"HTTP/3", 3, true, overQUIC},
}

// client returns a client of this protocol that keeps its connections until the
// test ends.
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

// bilingual is a pair of sites of the same content, one in the clear at $CLEAR
// and one with TLS at $PORT, for all protocols. $SITE is what they serve.
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

// anyProtocol is a global option for it.
const anyProtocol = "servers {\n protocols h1 h2 h2c h3\n }"

// polyglot is a server of a site by all protocols.
type polyglot struct {
	*harness.Server
	t     *testing.T
	clear string // the port without TLS
}

// servePolyglot serves a site by all protocols. Once it returns there is a
// certificate, but no robots.txt has been read.
func servePolyglot(t *testing.T, site string, replace ...string) polyglot {
	t.Helper()
	p := polyglot{t: t, clear: harness.FreePort(t)}
	p.Server = harness.Serve(t, bilingual, append([]string{"$SITE", site, "$CLEAR", p.clear, "$GLOBAL", anyProtocol}, replace...)...)
	p.WaitFor("127.0.0.1:" + p.clear)
	awaitTLS(t, p.Server, "a.test")
	return p
}

// awaitTLS waits until there is a certificate for a host.
func awaitTLS(t *testing.T, s *harness.Server, host string) {
	t.Helper()
	harness.Eventually(t, "there is a certificate for "+host, func() bool {
		conn, err := tls.Dial("tcp", "127.0.0.1:"+s.Port, &tls.Config{ServerName: host, InsecureSkipVerify: true}) //nolint:gosec // see above
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

// at returns the URL of a path by a protocol.
func (p polyglot) at(by protocol, path string) string {
	if by.secure {
		return "https://a.test:" + p.Port + path
	}
	return "http://a.test:" + p.clear + path
}

// warm makes sure that the robots.txt was read, by TLS and without.
func (p polyglot) warm() {
	p.t.Helper()
	for _, url := range []string{"http://a.test:" + p.clear, "https://a.test:" + p.Port} {
		p.WarmURL(url + "/")
	}
}

// overTCP returns a way to make transports of one version only.
func overTCP(choose func(*http.Protocols, bool)) func(*testing.T, *tls.Config) http.RoundTripper {
	return func(t *testing.T, config *tls.Config) http.RoundTripper {
		transport := &http.Transport{
			DisableCompression:    true,
			TLSClientConfig:       config.Clone(),
			ExpectContinueTimeout: harness.Patience, // never sends a body unasked
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

// overQUIC makes a transport of HTTP/3.
func overQUIC(t *testing.T, config *tls.Config) http.RoundTripper {
	transport := &http3.Transport{
		DisableCompression: true,
		TLSClientConfig:    config.Clone(),
		Dial:               dialQUIC,
	}
	t.Cleanup(func() { _ = transport.Close() })
	return transport
}

// dialQUIC finds every host on the loopback interface.
func dialQUIC(ctx context.Context, address string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return quic.DialAddrEarly(ctx, "127.0.0.1:"+port, config, settings)
}

// http10 speaks HTTP/1.0, which net/http's client does not.
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

// closing is a body with which its connection is closed.
type closing struct {
	io.Reader
	conn net.Conn
	stop func() bool
}

func (c closing) Close() error {
	c.stop()
	return c.conn.Close()
}
