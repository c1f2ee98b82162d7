package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func readSource(ctx context.Context, t *testing.T, s Source) policy.FetchResult {
	t.Helper()
	fetch, ok := s.Prepare(httptest.NewRequest(http.MethodGet, "http://a.test/x", nil), policy.Key{})
	if !ok {
		t.Fatal("not ok")
	}
	return fetch(ctx, nil)
}

func TestURLSource(t *testing.T) {
	long := strings.Repeat("# long\n", policy.MaxSize)
	packed := gzipped(t, "User-agent: *\n")
	origin := "http://" + originServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\n")
		case "/moved":
			http.Redirect(w, r, "/robots.txt", http.StatusMovedPermanently)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/long":
			fmt.Fprint(w, long)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
		case "/short":
			rawAnswer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n")(w, r)
		case "/garbage":
			rawAnswer("220 smtp.test ESMTP\r\n")(w, r)
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", maxResponseHeader))
		case "/503":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()

	for _, tc := range []struct {
		name, url string
		status    int
		body      string
		err       string
	}{
		{"plain", origin + "/robots.txt", 200, "User-agent: *\n", ""},
		{"redirect", origin + "/moved", 200, "User-agent: *\n", ""},
		{"loop", origin + "/loop", 302, "", ""},
		{"long", origin + "/long", 200, long[:policy.MaxSize+1], ""},
		{"gzip", origin + "/gzip", 200, "User-agent: *\n", ""},
		{"missing", origin + "/missing", 404, "", ""},
		{"503", origin + "/503", 503, "", ""},
		{"shorter than announced", origin + "/short", 0, "", "unexpected EOF"},
		{"no HTTP", origin + "/garbage", 0, "", "malformed HTTP"},
		{"header too long", origin + "/header", 0, "", "exceed"},
		{"certificate of nobody known", secure.URL, 0, "", "certificate"},
		{"other scheme", "ftp://a.test/", 0, "", "ftp"},
		{"no URL", "http://[::1", 0, "", "source: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer := readSource(t.Context(), t, NewURLSource(tc.url, "", true))
			if answer.Status != tc.status || string(answer.Body) != tc.body {
				t.Errorf("got status %d, body %.100q, error %v", answer.Status, answer.Body, answer.Err)
			}
			if (answer.Err == nil) != (tc.err == "") || answer.Err != nil && !strings.Contains(answer.Err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", answer.Err, tc.err)
			}
		})
	}
}

func TestOutboundHeader(t *testing.T) {
	var header atomic.Pointer[http.Header]
	origin := originServer(t, func(_ http.ResponseWriter, r *http.Request) { header.Store(&r.Header) })
	fetch, _ := NewURLSource("http://"+origin, "", true).Prepare(httptest.NewRequest(http.MethodGet, "/", nil), policy.Key{})
	if answer := fetch(t.Context(), nil); answer.Err != nil {
		t.Fatal(answer.Err)
	}
	if got := *header.Load(); got.Get("User-Agent") != GuardUserAgent || got.Get("Connection") != "close" || len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// TestOutboundRefusesPrivate checks that no name leads to a connection inside the owner's network.
func TestOutboundRefusesPrivate(t *testing.T) {
	var asked atomic.Int64
	origin := originServer(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, port, _ := net.SplitHostPort(origin)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		answer := readSource(t.Context(), t, NewURLSource("http://"+host+":"+port+"/", "", false))
		if answer.Err == nil {
			t.Errorf("%s: got status %d", host, answer.Status)
		}
		if host == "127.0.0.1" && !strings.Contains(answer.Err.Error(), "allow_private on") {
			t.Errorf("the error does not tell what to do: %v", answer.Err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests came", n)
	}
}

func TestOutboundTimeout(t *testing.T) {
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections into its backlog and never responds
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	stuck := originServer(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for name, address := range map[string]string{
		"before the header": "http://" + deaf.Addr().String(), "in the handshake": "https://" + deaf.Addr().String(), "in the body": "http://" + stuck,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			time.AfterFunc(100*time.Millisecond, func() { cancel(ErrFetchTimeout) })
			start := time.Now()
			answer := readSource(ctx, t, NewURLSource(address, "", true))
			if !errors.Is(answer.Err, ErrFetchTimeout) || answer.AccessResult() != policy.Unreachable {
				t.Errorf("got status %d, error %v", answer.Status, answer.Err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestSourcesLeakNothing checks that fetches of every kind leave no goroutine and no connection.
func TestSourcesLeakNothing(t *testing.T) {
	origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/long":
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, "# endless\n"); err != nil {
					return
				}
			}
		case "/break":
			panic(http.ErrAbortHandler)
		}
	})
	site := loadProbed(t, "", `http://ok.test:PORT {
		source_probe
		respond "ok"
	}
	http://hang.test:PORT {
		source_probe 20ms
		rewrite /robots.txt /hang
		reverse_proxy ORIGIN
	}
	http://long.test:PORT {
		source_probe
		rewrite /robots.txt /long
		reverse_proxy ORIGIN
	}
	http://break.test:PORT {
		source_probe
		rewrite /robots.txt /break
		reverse_proxy ORIGIN
	}
	http://away.test:PORT {
		source_probe 20ms
		redir /robots.txt http://ORIGIN/hang
	}`, "ORIGIN", origin)
	round := func() {
		for _, host := range []string{"ok", "hang", "long", "break", "away"} {
			site.probe("http://" + host + ".test:PORT/x")
		}
	}
	settle := func(limit int) (n int) {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if n = runtime.NumGoroutine(); n <= limit {
				return n
			}
		}
		return n
	}
	round()
	time.Sleep(300 * time.Millisecond)
	before := runtime.NumGoroutine()
	for range 10 {
		round()
	}
	if after := settle(before + 5); after > before+5 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
}
