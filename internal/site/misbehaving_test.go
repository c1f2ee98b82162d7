package site

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func init() {
	caddy.RegisterModule(misbehaving{})
	httpcaddyfile.RegisterHandlerDirective("misbehave", parseMisbehaving)
	httpcaddyfile.RegisterDirectiveOrder("misbehave", httpcaddyfile.Before, "respond")
}

// misbehaving responds to /robots.txt in ways that need a handler inside Caddy.
type misbehaving struct {
	How string `json:"how"`
}

func (misbehaving) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.misbehave", New: func() caddy.Module { return new(misbehaving) }}
}

func parseMisbehaving(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	var m misbehaving
	h.Next()
	if !h.Args(&m.How) {
		return nil, h.ArgErr()
	}
	return &m, nil
}

// deaf makes handlers ignore cancellation, for at most maxDeafness.
var deaf atomic.Bool

const maxDeafness = time.Minute

func (m *misbehaving) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.URL.Path != "/robots.txt" {
		return next.ServeHTTP(w, r)
	}
	switch m.How {
	case "panic":
		panic("boom")
	case "abort in the middle":
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /")
		panic(http.ErrAbortHandler)
	case "stop short":
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /")
	case "go on too long":
		w.Header().Set("Content-Length", "13")
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /\n")
	case "hang deaf":
		for end := time.Now().Add(maxDeafness); deaf.Load() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		_, _ = io.WriteString(w, "too late")
	case "write deaf":
		for end := time.Now().Add(maxDeafness); deaf.Load() && time.Now().Before(end); {
			_, _ = w.Write(bytes.Repeat([]byte("# deaf\n"), 1000))
			w.Header().Set("X-After", "x")
		}
	case "hints first":
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusProcessing)
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /hints\n")
	case "flush":
		rc := http.NewResponseController(w)
		for _, s := range []string{"User-agent: *\n", "Disallow: /", "flushed\n"} {
			_, _ = io.WriteString(w, s)
			if err := rc.Flush(); err != nil {
				return err
			}
		}
	case "change the header afterwards":
		w.Header().Set("Etag", `"sent"`)
		w.WriteHeader(http.StatusOK)
		w.Header().Set("Etag", `"not sent"`)
		_, _ = io.WriteString(w, "User-agent: *\n")
	case "switch protocols":
		w.WriteHeader(http.StatusSwitchingProtocols)
	case "tell the peer":
		state := r.TLS
		fmt.Fprintf(w, "# certificates %d\n# server name %s\n# proto %s\n", len(state.PeerCertificates), state.ServerName, r.Proto)
	case "tell the cause":
		<-r.Context().Done()
		causes <- fmt.Sprint(context.Cause(r.Context()))
	}
	return nil
}

var causes = make(chan string, 1)

// TestServerSourceMisbehavingHandlers has handlers that panic, hang or send invalid responses.
func TestServerSourceMisbehavingHandlers(t *testing.T) {
	for _, tc := range []struct {
		how     string
		timeout string // empty for a long timeout
		status  int
		body    string
		err     string
	}{
		{how: "panic", err: "a handler panicked: boom"},
		{how: "abort in the middle", err: "the answer broke off"},
		{how: "stop short", err: "the answer is shorter than its Content-Length"},
		{how: "go on too long", status: 200, body: "User-agent: *"},
		{how: "hang deaf", timeout: "500ms", err: ErrFetchTimeout.Error()},
		{how: "write deaf", status: 200, body: strings.Repeat("# deaf\n", policy.MaxSize)[:policy.MaxSize+1]},
		{how: "hints first", status: 200, body: "User-agent: *\nDisallow: /hints\n"},
		{how: "flush", status: 200, body: "User-agent: *\nDisallow: /flushed\n"},
		{how: "change the header afterwards", status: 200, body: "User-agent: *\n"},
		{how: "switch protocols", err: "status 101 is not a valid response to a GET request"},
		{how: "nothing", status: 200},
	} {
		t.Run(tc.how, func(t *testing.T) {
			site := loadProbed(t, "", `http://a.test:PORT {
				log
				source_probe TIMEOUT
				misbehave "HOW"
				respond "page"
			}`, "HOW", tc.how, "TIMEOUT", cmp.Or(tc.timeout, "20s"))
			deaf.Store(true)
			defer deaf.Store(false)
			got := site.probe("http://a.test:PORT/x")
			if got.Status != tc.status || got.Err != tc.err {
				t.Errorf("got status %d, error %q, want %d, %q", got.Status, got.Err, tc.status, tc.err)
			}
			if got.Body != tc.body {
				t.Errorf("got body %.100q of %d bytes, want %.100q of %d", got.Body, len(got.Body), tc.body, len(tc.body))
			}
			if got.Took >= maxDeafness {
				t.Errorf("took %v", got.Took)
			}
			if tc.how == "change the header afterwards" && got.Header.Get("Etag") != `"sent"` {
				t.Errorf("got header %v", got.Header)
			}
			if _, body := site.get("http://a.test:PORT/x"); body != "page" {
				t.Errorf("a page is %q after that", body)
			}
		})
	}
}

// TestServerSourceMisbehavingOrigins has such origins behind reverse_proxy.
func TestServerSourceMisbehavingOrigins(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /x\n"
	packed := gzipped(t, rules)
	bomb := gzipped(t, strings.Repeat("# bomb\n", 4<<20))
	for _, tc := range []struct {
		name   string
		origin http.HandlerFunc
		status int
		body   string
		err    string // a part of the error
	}{
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, "# endless\n"); err != nil {
					return
				}
			}
		}, 200, strings.Repeat("# endless\n", policy.MaxSize)[:policy.MaxSize+1], ""},
		{"endless error page", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusGone)
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, "gone "); err != nil {
					return
				}
			}
		}, 410, "", ""},
		{"breaks off, chunked", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, rules)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 0, "", "broke off"},
		{"breaks off before the header", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, "", ""},
		{"shorter than announced", rawAnswer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + rules), 0, "", "broke off"},
		{"early hints", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</a.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = fmt.Fprint(w, rules)
		}, 200, rules, ""},
		{"gzip though nobody asked", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
		}, 200, rules, ""},
		{"gzip bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		}, 200, strings.Repeat("# bomb\n", policy.MaxSize)[:policy.MaxSize+1], ""},
		{"brotli though nobody asked", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = fmt.Fprint(w, "?")
		}, 0, "", `Content-Encoding "br"`},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 204, "", ""},
		{"a part", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			_, _ = fmt.Fprint(w, rules)
		}, 0, "", "status 206"},
		{"not modified", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, 0, "", "status 304"},
		{"too many requests", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}, 429, "", ""},
		{"redirect without a Location", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) }, 302, "", ""},
		{"redirect to ftp", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://a.test/robots.txt", http.StatusFound)
		}, 302, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					tc.origin(w, r)
				}
			})
			for _, compression := range []string{"on", "off"} {
				site := loadProbed(t, "", `http://a.test:PORT {
					source_probe
					reverse_proxy ORIGIN {
						transport http {
							COMPRESSION
						}
					}
				}`, "ORIGIN", origin, "COMPRESSION", strings.TrimSuffix("compression "+compression, "compression on"))
				got := site.probe("http://a.test:PORT/x")
				if got.Status != tc.status || !strings.Contains(got.Err, tc.err) || (tc.err == "") != (got.Err == "") {
					t.Errorf("compression %s: got status %d, error %q, want %d, %q", compression, got.Status, got.Err, tc.status, tc.err)
				}
				if got.Body != tc.body {
					t.Errorf("compression %s: got body %.100q of %d bytes, want %.100q of %d", compression, got.Body, len(got.Body), tc.body, len(tc.body))
				}
				if resp, _ := site.get("http://a.test:PORT/page"); resp.StatusCode != http.StatusOK {
					t.Errorf("compression %s: a page is answered %d after that", compression, resp.StatusCode)
				}
			}
		})
	}
}

// rawAnswer sends bytes and closes the connection.
func rawAnswer(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(answer))
		_ = conn.Close()
	}
}
