package protocols

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestPassThrough uses features beyond a simple request, as a browser and as an allowed
// crawler. The guard must not change anything.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/socket":
			conn, in, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return true
			}
			defer conn.Close()
			fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_, _ = io.CopyN(conn, in, 5)
			return true
		case "/hints":
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			fmt.Fprint(w, "page")
			return true
		case "/trailer":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Trailer", "X-Sum")
			fmt.Fprintf(w, "%s %s", body, r.Trailer.Get("X-In"))
			w.Header().Set("X-Sum", "42")
			return true
		}
		return false
	})
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	for name, userAgent := range map[string]string{"browser": harness.Firefox, "crawler": harness.Bingbot, "none": ""} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", "127.0.0.1:"+s.Port)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			fmt.Fprintf(conn, "GET /socket HTTP/1.1\r\nHost: a.test:%s\r\nUser-Agent: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello", s.Port, userAgent)
			in := bufio.NewReader(conn)
			upgraded, err := http.ReadResponse(in, nil)
			if err != nil || upgraded.StatusCode != http.StatusSwitchingProtocols {
				t.Fatalf("upgrade: got %v, %v", upgraded, err)
			}
			echo := make([]byte, 5)
			if _, err := io.ReadFull(in, echo); err != nil || string(echo) != "hello" {
				t.Errorf("the socket echoes %q, %v", echo, err)
			}

			var hints atomic.Int32
			r, err := http.NewRequest(http.MethodGet, s.URL("/hints"), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["User-Agent"] = []string{userAgent}
			r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
				if code == http.StatusEarlyHints {
					hints.Add(1)
				}
				return nil
			}}))
			response, err := harness.Client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if hints.Load() != 1 || response.StatusCode != 200 {
				t.Errorf("%d early hints, then %d", hints.Load(), response.StatusCode)
			}

			in2, out := io.Pipe()
			if r, err = http.NewRequest(http.MethodPost, s.URL("/trailer"), in2); err != nil {
				t.Fatal(err)
			}
			r.Header["User-Agent"] = []string{userAgent}
			r.Trailer = http.Header{"X-In": nil}
			go func() { // returns at the end of the request's body
				fmt.Fprint(out, "body")
				r.Trailer.Set("X-In", "in")
				_ = out.Close()
			}()
			if response, err = harness.Client.Do(r); err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if string(body) != "body in" || response.Trailer.Get("X-Sum") != "42" {
				t.Errorf("with trailers: got %q and %v", body, response.Trailer)
			}
		})
	}
}
