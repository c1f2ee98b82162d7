package protocols

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestEarlyData sends early data (0-RTT) of HTTP/3 from Googlebot's address. Any client
// can forge that address in early data, so the guard must not verify the client.
func TestEarlyData(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere 127.0.0.1 may be the only address of the loopback interface")
	}
	const googles = "127.0.0.9"
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	list := filepath.Join(harness.Files(t, map[string]string{"googlebot.txt": googles + "\n"}), "googlebot.txt")
	s := servePolyglot(t, "header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n reverse_proxy $ORIGIN", "$ORIGIN", o.Address(),
		anyProtocol, anyProtocol+"\n robots_guard {\n verify {\n ranges configured\n rdns off\n }\n crawler Googlebot {\n ranges file "+list+"\n }\n }")
	s.warm()
	sessions := tls.NewLRUClientSessionCache(0)
	asGoogle := func(method, path string) (status int, identity string) {
		t.Helper()
		response := s.askOver(overQUICFrom(t, listenAt(t, googles), sessions), method, path, harness.Googlebot)
		return response.StatusCode, response.Header.Get("X-Identity")
	}
	harness.Eventually(t, "Googlebot is verified", func() bool {
		_, identity := asGoogle(http.MethodGet, "/")
		return identity == "verified"
	})
	cameEarly := func(path string) bool {
		return slices.ContainsFunc(o.Seen(), func(r *http.Request) bool { return r.URL.Path == path && r.Header.Get("Early-Data") == "1" })
	}
	harness.Eventually(t, "a request in early data", func() bool {
		status, identity := asGoogle(http3.MethodGet0RTT, "/early")
		came := cameEarly("/early")
		if came && (status != 200 || identity != "unknown") {
			t.Errorf("in early data Googlebot gets %d with identity %q, want 200 and unknown", status, identity)
		}
		return came
	})
	harness.Eventually(t, "what is forbidden in early data waits for the handshake", func() bool {
		status, _ := asGoogle(http3.MethodGet0RTT, "/private/")
		return status == http.StatusTooEarly
	})
	if status, _ := asGoogle(http.MethodGet, "/private/"); status != 403 {
		t.Errorf("after the handshake Googlebot gets %d for a disallowed page", status)
	}
}

// TestFetchCausedByEarlyData makes a request in early data cause the guard's fetch of
// robots.txt, at a site with an address matcher. The guard's own request must not count
// as early data. Otherwise Caddy would respond with 425, and the guard would have no
// rules.
func TestFetchCausedByEarlyData(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := servePolyglot(t, "robots_guard enforce\n @inside {\n not path /page*\n remote_ip 10.0.0.0/8\n }\n respond @inside inside\n reverse_proxy $ORIGIN", "$ORIGIN", o.Address())
	sessions := tls.NewLRUClientSessionCache(0)
	ask := func(method, path, userAgent string) int {
		t.Helper()
		return s.askOver(overQUICFrom(t, listenAt(t, "127.0.0.1"), sessions), method, path, userAgent).StatusCode
	}
	harness.Eventually(t, "there is a session", func() bool { return ask(http.MethodGet, "/page", harness.Firefox) == 200 })
	harness.Eventually(t, "a request in early data", func() bool { return ask(http3.MethodGet0RTT, "/", harness.Firefox) == http.StatusTooEarly })
	if o.Requests("/robots.txt") > 0 {
		t.Fatal("robots.txt has been fetched before")
	}
	ask(http3.MethodGet0RTT, "/page", harness.GPTBot)
	if status := ask(http.MethodGet, "/page", harness.GPTBot); status != 403 {
		t.Errorf("a disallowed crawler gets %d", status)
	}
}

// askOver sends a request over HTTP/3 and ignores the body of the response.
func (p polyglot) askOver(transport http.RoundTripper, method, path, userAgent string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequest(method, p.at(protocols[len(protocols)-1], path), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("User-Agent", userAgent)
	response, err := transport.RoundTrip(r)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response
}

// listenAt returns a UDP socket at an address.
func listenAt(t *testing.T, address string) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(address)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// overQUICFrom returns an HTTP/3 transport on a socket. It resumes earlier sessions.
func overQUICFrom(t *testing.T, conn net.PacketConn, sessions tls.ClientSessionCache) http.RoundTripper {
	dialer := &quic.Transport{Conn: conn}
	transport := &http3.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ClientSessionCache: sessions}, //nolint:gosec // see client
		Dial: func(ctx context.Context, address string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			server, err := net.ResolveUDPAddr("udp", "127.0.0.1:"+port)
			if err != nil {
				return nil, err
			}
			return dialer.DialEarly(ctx, server, config, settings)
		},
	}
	t.Cleanup(func() {
		_ = transport.Close()
		_ = dialer.Close()
	})
	return transport
}
