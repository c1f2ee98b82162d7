package botauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestRequests checks requestOf with net/http, for both HTTP versions and with or without TLS.
func TestRequests(t *testing.T) {
	for _, test := range []struct {
		name  string
		proto int
		start func(*httptest.Server)
	}{
		{"HTTP/1.1", 1, (*httptest.Server).Start},
		{"HTTP/1.1 over TLS", 1, (*httptest.Server).StartTLS},
		{"HTTP/2", 2, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := warm(t)
			results := make(chan Result, 1)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != test.proto {
					t.Errorf("the request came over %s", r.Proto)
				}
				results <- f.Check(requestOf(r))
			}))
			test.start(server)
			defer server.Close()
			base, err := url.Parse(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			s := newSigning()
			s.lines[0] = `"@authority": ` + base.Host
			s.cover(`"@method"`, "POST")
			s.cover(`"@scheme"`, base.Scheme)
			s.cover(`"@target-uri"`, server.URL+"/a%2Fb//c?x=1&y=%20")
			s.cover(`"@path"`, "/a%2Fb//c")
			s.cover(`"@query"`, "?x=1&y=%20")
			s.cover(`"host"`, base.Host)
			s.cover(`"content-type"`, "text/plain")
			s.cover(`"content-length"`, "4")
			s.cover(`"x-twice"`, "a, b")
			s.request.Header["Content-Type"] = []string{"text/plain"}
			s.request.Header["X-Twice"] = []string{"a", "b"}
			req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/a%2Fb//c?x=1&y=%20", strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = s.sign().Header
			response, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			expect(t, <-results, Verified)
		})
	}
}

// requestOf returns the Request for r. A handler must call it before other handlers rewrite r.
func requestOf(r *http.Request) Request {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return Request{Method: r.Method, Scheme: scheme, Authority: r.Host, Target: r.RequestURI, Header: r.Header}
}
