package site

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// TestHealthBypass fetches a robots.txt behind proxies that mark an upstream as down for an hour
// after one failure.
func TestHealthBypass(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /x\n"
	for _, tc := range []struct {
		name   string
		origin http.HandlerFunc
		status int
		err    string // a part of the error
	}{
		{"well", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, rules) }, 200, ""},
		{"busy", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, 503, ""},
		{"busy without end", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			for {
				if _, err := fmt.Fprint(w, strings.Repeat("busy ", 1000)); err != nil {
					return
				}
			}
		}, 503, ""},
		{"slow", func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			fmt.Fprint(w, rules)
		}, 200, ""},
		{"slow and broken", func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			rawAnswer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"+rules)(w, nil)
		}, 0, "unexpected EOF"},
		{"slow, then hangs", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, 0, ErrFetchTimeout.Error()},
		{"broken", rawAnswer("SSH-2.0\r\n"), 0, "malformed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					tc.origin(w, r)
				}
			})
			timeout := "20s"
			if strings.HasSuffix(tc.name, "hangs") {
				timeout = "2s"
			}
			site := loadProbed(t, "", strictProxy+"http://a.test:PORT {\n source_probe TIMEOUT\n invoke app\n}", "ORIGIN", origin, "TIMEOUT", timeout)
			got := site.probe("http://a.test:PORT/x")
			if got.Status != tc.status || !strings.Contains(got.Err, tc.err) || (tc.err == "") != (got.Err == "") {
				t.Errorf("got status %d, error %q, want %d, %q", got.Status, got.Err, tc.status, tc.err)
			}
			if tc.status == 200 && got.Body != rules {
				t.Errorf("got body %q", got.Body)
			}
			if tc.name == "busy" && got.Header.Get("Retry-After") != "7" {
				t.Errorf("got header %v", got.Header)
			}
			if resp, _ := site.get("http://a.test:PORT/page"); resp.StatusCode != http.StatusOK {
				t.Errorf("a page is answered %d after that", resp.StatusCode)
			}
		})
	}
}

// strictProxy is a named route whose proxy marks an upstream as down for an hour after one failure.
const strictProxy = `&(app) {
	reverse_proxy ORIGIN {
		fail_duration 1h
		unhealthy_status 5xx
		unhealthy_latency 1s
	}
}
`

// TestHealthBypassFindsProxies has a failing robots.txt behind proxies at every place of a
// configuration, with concurrent fetches.
func TestHealthBypassFindsProxies(t *testing.T) {
	const proxy = "reverse_proxy ORIGIN {\n fail_duration 1h\n max_fails 1\n MORE\n }"
	for shape, routes := range map[string]string{
		"site":        proxy,
		"nested":      "handle {\n route {\n " + proxy + "\n }\n }",
		"named route": "invoke app",
		"error route": "error 404\n handle_errors {\n " + proxy + "\n }",
		"rewritten":   strings.Replace(proxy, "MORE", "header_up X-Header x", 1),
	} {
		t.Run(shape, func(t *testing.T) {
			origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					rawAnswer("SSH-2.0\r\n")(w, r)
				}
			})
			site := loadProbed(t, "", strictProxy+"http://a.test:PORT, http://b.test:PORT {\n source_probe\n "+
				strings.NewReplacer("ORIGIN", origin, "MORE", "").Replace(routes)+"\n}", "ORIGIN", origin)
			var all sync.WaitGroup
			for _, host := range []string{"a.test", "b.test", "a.test", "b.test"} {
				all.Go(func() {
					if got := site.probe("http://" + host + ":PORT/x"); !strings.Contains(got.Err, "malformed") {
						t.Errorf("got status %d, error %q", got.Status, got.Err)
					}
				})
			}
			all.Wait()
			for range 5 {
				if resp, _ := site.get("http://a.test:PORT/page"); resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
					t.Errorf("a page is answered %d after that", resp.StatusCode)
				}
			}
		})
	}
}

// TestHealthBypassInResponses has a proxy in a handle_response of another proxy. It does not run
// the configuration, since reverse_proxy itself would have a data race.
func TestHealthBypassInResponses(t *testing.T) {
	transport := new(http.Transport)
	inner := &reverseproxy.Handler{
		HealthChecks: &reverseproxy.HealthChecks{Passive: &reverseproxy.PassiveHealthChecks{FailDuration: 1}},
		Transport:    &reverseproxy.HTTPTransport{Transport: transport},
	}
	outer := &reverseproxy.Handler{HandleResponse: []caddyhttp.ResponseHandler{{Routes: caddyhttp.RouteList{{Handlers: []caddyhttp.MiddlewareHandler{inner}}}}}}
	for range 2 { // the second run finds the bypass of the first
		bypassHealthChecks(&caddyhttp.Server{Routes: caddyhttp.RouteList{{Handlers: []caddyhttp.MiddlewareHandler{outer}}}})
	}
	defer func() {
		if recover() == nil {
			t.Error("there is no bypass")
		}
	}()
	transport.RegisterProtocol("http", nil)
}
