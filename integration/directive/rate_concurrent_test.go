package directive

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRateConcurrent keeps requests of a crawler open at a real server. Meanwhile a
// further request gets 429, even after a reload. Once the open requests have ended in
// any way, a request passes again.
func TestRateConcurrent(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/slow":
			select {
			case <-release:
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(w, "late")
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/socket":
			conn, in, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return true
			}
			defer conn.Close()
			fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_, _ = io.CopyN(conn, in, 5)
		default:
			return false
		}
		return true
	})
	s := harness.ServeReloadable(t, o)
	config := strings.Replace(s.Named("rate", ""), "robots_guard enforce", `robots_guard enforce {
		rate enforce {
			limit GPTBot concurrent 1
		}
	}`, 1)
	s.MustLoad(config)
	s.Warm("/")
	const inFlight = `caddy_robots_guard_requests_in_flight{class="ai_training"}`
	idle := func(when string) {
		t.Helper()
		harness.Eventually(t, when+" no request is in flight", func() bool { return s.Metrics()[inFlight] == 0 })
		if a := harness.Get(t, s.URL("/page"), harness.GPTBot); a.Status != http.StatusOK {
			t.Errorf("%s: the next request gets %d", when, a.Status)
		}
	}
	busy := func() {
		t.Helper()
		harness.Eventually(t, "a request is in flight", func() bool { return s.Metrics()[inFlight] == 1 })
		for userAgent, want := range map[string]int{harness.GPTBot: 429, "CCBot/2.0": 200, harness.Firefox: 200} {
			if a := harness.Get(t, s.URL("/page"), userAgent); a.Status != want {
				t.Errorf("%s: a concurrent request gets %d, want %d", userAgent, a.Status, want)
			} else if want == 429 && (a.Header.Get("Retry-After") == "" || !strings.Contains(a.Body, "GPTBot concurrent 1") || a.Header.Get("Cache-Control") != "no-store") {
				t.Errorf("%v %s", a.Header, a.Body)
			}
		}
		if a := harness.Get(t, s.URL("/robots.txt"), harness.GPTBot); a.Status != http.StatusOK {
			t.Errorf("robots.txt gets %d", a.Status)
		}
	}
	ask := func(ctx context.Context, path string) <-chan error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", harness.GPTBot)
		done := make(chan error, 1)
		go func() { // ends with the response or with ctx
			response, err := harness.Client.Do(r)
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
			done <- err
		}()
		return done
	}

	first := ask(t.Context(), "/slow")
	busy()
	s.MustLoad(strings.Replace(config, "X-Config", "X-Other", 1))
	busy()
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	idle("after a page")

	release = make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	left := ask(ctx, "/slow")
	busy()
	leave()
	if err := <-left; err == nil {
		t.Error("the client has not disconnected")
	}
	idle("after a client has left")

	<-ask(t.Context(), "/broken")
	idle("after the origin broke off")

	conn, err := net.Dial("tcp", "127.0.0.1:"+s.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "GET /socket HTTP/1.1\r\nHost: a.test:%s\r\nUser-Agent: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", s.Port, harness.GPTBot)
	in := bufio.NewReader(conn)
	if upgraded, err := http.ReadResponse(in, nil); err != nil || upgraded.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrade: got %v, %v", upgraded, err)
	}
	idle("while a WebSocket is open")
	fmt.Fprint(conn, "hello")
	if echo, err := io.ReadAll(io.LimitReader(in, 5)); err != nil || string(echo) != "hello" {
		t.Errorf("the socket echoes %q, %v", echo, err)
	}
	idle("after a WebSocket")
}
