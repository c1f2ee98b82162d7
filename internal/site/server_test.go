package site

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestVirtualRequestIsNew checks that a virtual request has no header fields of the client.
func TestVirtualRequestIsNew(t *testing.T) {
	var got atomic.Pointer[http.Request]
	origin := originServer(t, func(_ http.ResponseWriter, r *http.Request) { got.Store(r) })
	site := loadProbed(t, "", `http://a.test:PORT {
		source_probe
		reverse_proxy ORIGIN {
			transport http {
				compression off
			}
		}
	}`, "ORIGIN", origin)
	site.probe("http://a.test:PORT/x?y=z")

	r := got.Load()
	if r == nil {
		t.Fatal("nothing came to the origin")
	}
	if r.Method != http.MethodGet || r.RequestURI != "/robots.txt" || r.Host != "a.test:"+site.port || r.ContentLength != 0 {
		t.Errorf("got %s %s of %s, length %d", r.Method, r.RequestURI, r.Host, r.ContentLength)
	}
	want := map[string]string{
		"User-Agent":        GuardUserAgent,
		"X-Forwarded-For":   "192.0.2.1",
		"X-Forwarded-Host":  "a.test:" + site.port,
		"X-Forwarded-Proto": "http",
		"Via":               "1.1 Caddy",
	}
	for name, values := range r.Header {
		if strings.Join(values, "|") != want[name] {
			t.Errorf("%s: %q came to the origin", name, values)
		}
	}
}

// TestVirtualRequestIsAnonymous checks that a virtual request has HTTP/1.1 and the TLS state, but
// no client certificate.
func TestVirtualRequestIsAnonymous(t *testing.T) {
	site := loadProbed(t, "", `https://localhost:PORT {
		source_probe
		misbehave "tell the peer"
	}`)
	want := "# certificates 0\n# server name localhost\n# proto HTTP/1.1\n"
	if got := site.probe("https://localhost:PORT/x"); got.Body != want {
		t.Errorf("got %q, want %q", got.Body, want)
	}

	r := httptest.NewRequest(http.MethodGet, "https://a.test/x", nil)
	r.TLS = &tls.ConnectionState{ServerName: "a.test", PeerCertificates: make([]*x509.Certificate, 1), VerifiedChains: make([][]*x509.Certificate, 1)}
	state := virtualOf(r).TLS
	if state.ServerName != "a.test" || state.PeerCertificates != nil || state.VerifiedChains != nil || !state.HandshakeComplete {
		t.Errorf("got %+v", state)
	}
	if len(r.TLS.PeerCertificates) != 1 {
		t.Error("the client's request lost its certificate")
	}
}

// TestVirtualRequestBehindTrustedProxy checks that the origin sees https, and no other data of the
// client.
func TestVirtualRequestBehindTrustedProxy(t *testing.T) {
	var forwardedFor atomic.Value
	origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-Proto") != "https" {
			http.Redirect(w, r, "https://"+r.Host+r.RequestURI, http.StatusMovedPermanently)
			return
		}
		if r.URL.Path == "/robots.txt" { // like an application with a configured public name
			http.Redirect(w, r, "https://"+r.Header.Get("X-Forwarded-Host")+"/public.txt", http.StatusFound)
			return
		}
		forwardedFor.Store(r.Header.Get("X-Forwarded-For") + " " + r.Header.Get("Cookie"))
		fmt.Fprintf(w, "# %s for %s\n", r.URL.Path, r.Header.Get("X-Forwarded-Host"))
	})
	site := loadProbed(t, `servers {
		trusted_proxies static 127.0.0.2/32
	}`, `http://a.test:PORT {
		source_probe
		reverse_proxy ORIGIN
	}`, "ORIGIN", origin)
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	if conn, err := from.Dial("tcp", "127.0.0.1:"+site.port); err != nil {
		t.Skip("this machine has no 127.0.0.2:", err)
	} else {
		conn.Close()
	}
	site.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return from.DialContext(ctx, network, "127.0.0.1:"+site.port)
	}
	got := site.probe("http://a.test:PORT/x", "Cookie", "session=1",
		"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "public.test")
	if want := "# /public.txt for public.test\n"; got.Body != want {
		t.Errorf("got status %d, error %q, body %q, want %q", got.Status, got.Err, got.Body, want)
	}
	if got := forwardedFor.Load(); got != "192.0.2.1, 127.0.0.2 " {
		t.Errorf("the origin was told of %q", got)
	}
}

// TestVirtualRequestOutlivesRequest checks that the fetch continues after its request ends, and
// that the guard does not call itself.
func TestVirtualRequestOutlivesRequest(t *testing.T) {
	site := loadProbed(t, "", `http://a.test:PORT {
		source_probe
		source_probe
		respond /robots.txt "# here
"
	}`)
	before := virtuals.Load()
	if got := site.probe("http://a.test:PORT/x"); got.Body != "# here\n" {
		t.Errorf("got %q", got.Body)
	}
	if n := virtuals.Load() - before; n != 2 {
		t.Errorf("the virtual request came to %d probes, want to each of 2 once", n)
	}

	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), caddyhttp.ErrorCtxKey, errors.New("before")))
	ctx = caddyhttp.ContextWithIdleTimeouts(ctx, new(caddyhttp.IdleTimeoutReader), new(caddyhttp.IdleTimeoutWriter))
	virtual := virtualOf(httptest.NewRequest(http.MethodGet, "/x", nil).WithContext(ctx)).Context()
	cancel()
	if reader, writer := caddyhttp.IdleTimeoutsFromContext(virtual); reader != nil || writer != nil {
		t.Error("the time-outs of the client's connection go along")
	}
	if err := virtual.Err(); err != nil {
		t.Errorf("ended with the request: %v", err)
	}
	if !IsGuardRequest(virtual) || IsGuardRequest(ctx) {
		t.Error("the mark is not on the virtual request alone")
	}
	if _, ok := virtual.Value(caddyhttp.ErrorCtxKey).(error); ok {
		t.Error("the error of the client's request goes along")
	}
}

// TestServerSourceWithoutServer has a request whose context has no server.
func TestServerSourceWithoutServer(t *testing.T) {
	if _, ok := NewServerSource(false).Prepare(httptest.NewRequest(http.MethodGet, "/", nil), policy.Key{}); ok {
		t.Error("ok without a server")
	}
}

// TestTimeoutIsNoFailureOfTheUpstream checks that a slow origin causes a timeout, not a 4xx or a
// failure of the upstream.
func TestTimeoutIsNoFailureOfTheUpstream(t *testing.T) {
	for _, tc := range []struct{ name, directive string }{
		{"before the header", ""},
		{"in the body", ""},
		{"in the body, dribbling", ""},
		{"in the body, flushed", "flush_interval -1"},
		{"in the body, buffered", "response_buffers 1MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ended := make(chan struct{})
			origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/robots.txt" {
					return
				}
				defer close(ended)
				if strings.HasPrefix(tc.name, "in the body") {
					_, _ = w.Write([]byte("User-agent: *\nDisallow: /"))
					_ = http.NewResponseController(w).Flush()
				}
				for strings.Contains(tc.name, "dribbling") {
					_, err := w.Write([]byte("x"))
					if err = errors.Join(err, http.NewResponseController(w).Flush(), r.Context().Err()); err != nil {
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
				<-r.Context().Done()
			})
			site := loadProbed(t, "", `http://a.test:PORT {
				source_probe 1s
				reverse_proxy ORIGIN {
					fail_duration 1m
					max_fails 1
					MORE
				}
			}`, "ORIGIN", origin, "MORE", tc.directive)
			got := site.probe("http://a.test:PORT/x")
			if got.Err != ErrFetchTimeout.Error() || got.Status != 0 || got.meaning() != policy.Unreachable {
				t.Errorf("got status %d, error %q", got.Status, got.Err)
			}
			if got.Took > 20*time.Second {
				t.Errorf("took %v", got.Took)
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Error("the origin was not told to stop")
			}
			if resp, _ := site.get("http://a.test:PORT/page"); resp.StatusCode != http.StatusOK {
				t.Errorf("a page is answered %d after that", resp.StatusCode)
			}
		})
	}
}

// TestVirtualRequestIsCancelledWithoutCause checks that the server sees a plain cancellation when
// the caller ends a fetch. http.Transport returns the cause of a context, and reverse_proxy ignores
// only context.Canceled.
func TestVirtualRequestIsCancelledWithoutCause(t *testing.T) {
	site := loadProbed(t, "", `http://a.test:PORT {
		source_probe 50ms
		misbehave "tell the cause"
	}`)
	if got := site.probe("http://a.test:PORT/x"); got.Err != ErrFetchTimeout.Error() {
		t.Errorf("got error %q", got.Err)
	}
	if got := <-causes; got != context.Canceled.Error() {
		t.Errorf("the handler saw %q", got)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	seen := make(chan error, 1)
	answer := serveOnce(ctx, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		if _, ok := r.Context().Deadline(); ok {
			t.Error("the handler sees a deadline")
		}
		seen <- context.Cause(r.Context())
	})
	if !errors.Is(answer.Err, context.DeadlineExceeded) {
		t.Errorf("got %v", answer.Err)
	}
	if got := <-seen; got != context.Canceled {
		t.Errorf("the handler saw %v", got)
	}
}

// TestVirtualRequestIsNotLogged checks that the access log has no line for virtual requests. The
// guard's handler recognizes them by their context.
func TestVirtualRequestIsNotLogged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	site := loadProbed(t, "", `http://a.test:PORT {
		log {
			output file "LOG"
		}
		source_probe
		respond "page"
	}`, "LOG", file)
	site.probe("http://a.test:PORT/probe")
	site.get("http://a.test:PORT/page")
	var text string
	for end := time.Now().Add(20 * time.Second); strings.Count(text, "\n") < 2 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		log, _ := os.ReadFile(file)
		text = string(log)
	}
	if strings.Count(text, "\n") != 2 || strings.Contains(text, "robots.txt") {
		t.Errorf("got %s", text)
	}
}

// siteKey returns the key of the robots.txt for a request.
func siteKey(r *http.Request) policy.Key {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return NewHosts(server).KeyForRequest(r)
}

// virtualOf returns the guard's own request for the site of a request.
func virtualOf(r *http.Request) *http.Request {
	return newRequestTemplate(r, siteKey(r), apparentClient{addr: outsideIPv4})
}
