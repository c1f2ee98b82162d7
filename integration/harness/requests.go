package harness

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Proto  string
}

// NewClient returns a client that connects to the loopback interface for every host,
// and does not verify certificates.
func NewClient(http2 bool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives:  true,
			DisableCompression: true,
			ForceAttemptHTTP2:  http2,
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a CA of this test's own
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       30 * time.Second,
	}
}

// Client is the client of Get.
var Client = NewClient(false)

// Get requests a URL with the given User-Agent, or without the field if userAgent is
// empty. It retries if the connection is reset, which happens while Caddy replaces its
// configuration.
func Get(t testing.TB, url, userAgent string, change ...func(*http.Request)) Answer {
	t.Helper()
	for tries := 1; ; tries++ {
		a, err := Try(Client, url, userAgent, change...)
		switch {
		case err == nil:
			return a
		case tries == 5 || !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF):
			t.Fatal(err)
		}
	}
}

// Try is like Get, but makes one attempt with the given client.
func Try(client *http.Client, url, userAgent string, change ...func(*http.Request)) (Answer, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return Answer{}, err
	}
	r.Header["User-Agent"] = []string{userAgent}
	if userAgent == "" {
		r.Header["User-Agent"] = nil
	}
	for _, f := range change {
		f(r)
	}
	response, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(body), response.Proto}, err
}

// Method sets the method of a request.
func Method(name string) func(*http.Request) { return func(r *http.Request) { r.Method = name } }

// Header sets a header field of a request.
func Header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Host sets the host of a request.
func Host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// Visit is a request with the expected response. It is an alias of an unnamed type, so
// that tables need not name its fields.
type Visit = struct {
	UserAgent string
	Path      string // a path on a.test, or a URL without a port
	Status    int
	Body      string // contained in the body
}

// Visits makes requests and compares the responses with the expected ones.
func Visits(t testing.TB, s *Server, all []Visit) {
	t.Helper()
	for _, v := range all {
		a := Get(t, s.URL(v.Path), v.UserAgent)
		if a.Status != v.Status || !strings.Contains(a.Body, v.Body) {
			t.Errorf("%s as %q: got %d %q, want %d %q", v.Path, v.UserAgent, a.Status, a.Body, v.Status, v.Body)
		}
	}
}

// Raw sends bytes to the server and returns the status code and the body of the
// response.
func Raw(t testing.TB, s *Server, request string) (status int, body string) {
	t.Helper()
	a := RawAnswer(t, s, request)
	return a.Status, a.Body
}

// RawAnswer is like Raw and also returns the header.
func RawAnswer(t testing.TB, s *Server, request string) Answer {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer response.Body.Close()
	all, _ := io.ReadAll(response.Body) // incomplete if the server closes the connection
	return Answer{response.StatusCode, response.Header, string(all), response.Proto}
}
