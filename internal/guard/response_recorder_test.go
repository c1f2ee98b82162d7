package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// answeringGuard returns a guard with a ledger.
func answeringGuard(t testing.TB, enforce bool) *Guard {
	g := testGuard(t, options{Enforce: enforce}, serving("User-agent: *\nDisallow: /private/\n"))
	<-fetchDone(g, requestBy("bingbot/2.0", "/"))
	return g
}

// answers returns the sum of all responses in the ledger.
func (g *Guard) answers() (sum responseaudit.ResponseCounts) {
	now := time.Now()
	for _, s := range g.state.Ledger.Snapshot().Sites {
		for _, row := range s.Rows {
			sum.Add(row.SumResponses(ledger.Days, now.Add(-time.Hour), now))
		}
	}
	return sum
}

// TestAnswersAreCounted checks that responses to passed requests are counted by kind
// and status, and that the guard's own responses are not.
func TestAnswersAreCounted(t *testing.T) {
	status := func(codes ...int) caddyhttp.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) error {
			for _, code := range codes {
				w.WriteHeader(code)
			}
			_, err := io.WriteString(w, "12345")
			return err
		}
	}
	failing := func(err error) caddyhttp.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) error { return err }
	}
	panicking := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { panic("the proxy broke off") })
	left, leave := context.WithCancel(t.Context())
	leave()
	for _, tc := range []struct {
		name    string
		request *http.Request
		next    caddyhttp.HandlerFunc
		monitor bool
		want    string // kind, status and bytes, "" for nothing
	}{
		{"nobody handles it", requestBy("bingbot/2.0", "/"), failing(nil), false, "allowed 2xx 0"},
		{"a page", requestBy("bingbot/2.0", "/"), status(200), false, "allowed 2xx 5"},
		{"HEAD", httptest.NewRequest(http.MethodHead, "/", nil), status(200), false, "allowed 2xx 0"},
		{"a page without a status", requestBy("bingbot/2.0", "/"), status(), false, "allowed 2xx 5"},
		{"early hints", requestBy("bingbot/2.0", "/"), status(103, 404), false, "allowed not_found 0"}, // a recorder sends no body after 103,
		{"a second status", requestBy("bingbot/2.0", "/"), status(403, 200), false, "allowed refused 5"},
		{"an error with a status", requestBy("bingbot/2.0", "/"), failing(caddyhttp.Error(503, nil)), false, "allowed 5xx 0"},
		{"another error", requestBy("bingbot/2.0", "/"), failing(errors.New("x")), false, "allowed 5xx 0"},
		{"a panic", requestBy("bingbot/2.0", "/"), panicking, false, "allowed 5xx 0"},
		{"the client left", requestBy("bingbot/2.0", "/").WithContext(left), failing(context.Canceled), false, ""},
		{"the client left in the middle", requestBy("bingbot/2.0", "/").WithContext(left), status(200), false, "allowed 2xx 5"},
		{"the proxy says that it left", requestBy("bingbot/2.0", "/"), failing(caddyhttp.Error(499, nil)), false, ""},
		{"a status that cannot be", requestBy("bingbot/2.0", "/"), status(999), false, ""},
		{"blocked", requestBy("bingbot/2.0", "/private/"), status(200), false, ""},
		{"what monitor lets pass", requestBy("bingbot/2.0", "/private/"), status(200), true, "forbidden 2xx 5"},
		{"robots.txt", requestBy("bingbot/2.0", "/robots.txt"), status(503), false, "robots_txt 5xx 5"},
		{"robots.txt by an error", requestBy("bingbot/2.0", "/robots.txt"), failing(caddyhttp.Error(403, nil)), false, "robots_txt refused 0"},
		{"an assistant", requestBy("ChatGPT-User/1.0", "/private/"), status(200), false, "unruled 2xx 5"},
		{"a browser", requestBy(uaChrome, "/"), status(403), false, ""},
		{"a browser reads robots.txt", requestBy(uaChrome, "/robots.txt"), status(403), false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.request.UserAgent() == "" {
				tc.request.Header.Set("User-Agent", "bingbot/2.0")
			}
			g := answeringGuard(t, !tc.monitor)
			func() {
				defer func() { _ = recover() }()
				_ = g.Serve(httptest.NewRecorder(), prepared(tc.request), tc.next)
			}()
			got, sum := "", g.answers()
			for kind := range responseaudit.NumRequestKinds {
				for status, n := range sum.ByKindAndStatus[kind] {
					if n > 0 {
						got += strings.Repeat(fmt.Sprint(kind, " ", responseaudit.StatusClass(status), " ", sum.Bytes), int(n))
					}
				}
			}
			if got != tc.want {
				t.Errorf("counted %q, want %q", got, tc.want)
			}
		})
	}
}

// prepared returns a request as Caddy passes it on.
func prepared(r *http.Request) *http.Request {
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), browserServer)
}

// TestAnswersPassAsTheyAre checks that handlers can do everything with the response to
// a crawler that they can do with the response to a browser.
func TestAnswersPassAsTheyAre(t *testing.T) {
	g := answeringGuard(t, true)
	var answered sync.WaitGroup // the client may receive the end of a response before the guard counts it
	serve := func(handle func(w http.ResponseWriter)) *httptest.Server {
		answered.Add(1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer answered.Done()
			r.URL.Path, r.Host = "/", "example.com"
			p := prepared(requestBy("bingbot/2.0", "/"))
			if err := g.Serve(w, p, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error { handle(w); return nil })); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(s.Close)
		return s
	}
	for _, tc := range []struct {
		name   string
		handle func(w http.ResponseWriter)
		want   string
	}{
		{"flushed", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "b")
		}, "ab"},
		{"copied", func(w http.ResponseWriter) {
			if n, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("abc")); n != 3 || err != nil {
				t.Error(n, err)
			}
		}, "abc"},
		{"with a deadline", func(w http.ResponseWriter) {
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "abcd")
		}, "abcd"},
		{"hijacked", func(w http.ResponseWriter) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
			_ = conn.Close()
		}, "x"},
	} {
		resp, err := http.Get(serve(tc.handle).URL)
		if err != nil {
			t.Fatal(tc.name, err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != tc.want || err != nil {
			t.Errorf("%s: %q, %v", tc.name, body, err)
		}
	}
	answered.Wait()
	if got := g.answers(); got.ByKindAndStatus[responseaudit.KindAllowed][responseaudit.StatusSuccess] != 4 || got.Bytes != 2+3+4 {
		t.Errorf("counted %+v", got)
	}
	flushed := httptest.NewRecorder()
	recorder := newResponseRecorder(flushed, http.MethodGet)
	for _, w := range []http.Flusher{&recorder, newRobotsRecorder(flushed, http.MethodGet)} {
		flushed.Flushed = false
		if w.Flush(); !flushed.Flushed {
			t.Errorf("%T does not flush", w)
		}
	}
	unsupported := newResponseRecorder(httptest.NewRecorder(), http.MethodGet)
	if _, _, err := http.NewResponseController(&unsupported).Hijack(); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("hijacking what cannot be: %v", err)
	}
}

// BenchmarkServe measures the whole work of the guard for a request that passes.
func BenchmarkServe(b *testing.B) {
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		return nil
	})
	for name, userAgent := range map[string]string{"crawler": "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "browser": uaChrome} {
		b.Run(name, func(b *testing.B) {
			g := testGuard(b, options{Enforce: true}, serving(mixedRobots))
			g.Judge(requestBy("bingbot/2.0", "/"))
			w := httptest.NewRecorder()
			b.ReportAllocs()
			var r *http.Request
			for i := 0; b.Loop(); i++ {
				if i%100 == 0 { // each request adds placeholders to its context's replacer
					r = browserRequest()
					r.Header.Set("User-Agent", userAgent)
					r.Header.Set("Referer", "https://www.example.com/some/page?with=query")
				}
				_ = g.Serve(w, r, next)
			}
		})
	}
}
