package protocols

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProtocolsGone makes clients disconnect before the response has ended, in each
// version of HTTP. They reset the stream if there are streams, otherwise the
// connection. The server continues and leaks no goroutines.
func TestProtocolsGone(t *testing.T) {
	t.Parallel()
	for _, by := range protocols {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			g := &going{t: t, by: by, hold: make(chan struct{})}
			g.origin = harness.NewOrigin(t, harness.ClosedRobots, g.answer)
			g.server = servePolyglot(t, `robots_guard enforce {
				fetch_wait 50s
				fetch_timeout 55s
			}
			reverse_proxy $ORIGIN {
				transport http {
					keepalive off
				}
			}`, "$ORIGIN", g.origin.Address())
			g.client = by.client(t)
			g.whileReading()
			g.round(1)
			before := g.server.Metrics()["go_goroutines"]
			if before == 0 {
				t.Fatal("the metric go_goroutines is missing")
			}
			g.round(15)
			r := g.request(context.Background(), http.MethodGet, "/page", harness.Bingbot, nil)
			if got := statusAndBody(g.client, r); got != "200 origin /page" {
				t.Errorf("afterwards: got %q", got)
			}
			g.client.CloseIdleConnections()
			harness.Eventually(t, "the goroutines have ended", func() bool {
				return g.server.Metrics()["go_goroutines"] <= before+10
			})
		})
	}
}

// going is a site with clients that disconnect.
type going struct {
	t       *testing.T
	by      protocol
	client  *http.Client
	server  polyglot
	origin  *harness.Origin
	hold    chan struct{} // closed to release the response for robots.txt
	aborted atomic.Int32  // aborted requests for robots.txt
	count   atomic.Int32
	came    turns // by query: the origin has the request or a part of its body
	gone    turns // by query: the origin sees the disconnect
}

// answer is the handler of the origin.
func (g *going) answer(w http.ResponseWriter, r *http.Request) bool {
	came, gone := g.came.of(r.URL.RawQuery), g.gone.of(r.URL.RawQuery)
	switch r.URL.Path {
	case "/robots.txt":
		select {
		case <-g.hold:
		case <-r.Context().Done():
			g.aborted.Add(1)
		}
		return false
	case "/never":
		came <- struct{}{}
		<-r.Context().Done()
	case "/up":
		_, _ = io.ReadFull(r.Body, make([]byte, 5))
		came <- struct{}{}
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			g.t.Error("the origin got the end of an endless body")
		}
	case "/down":
		for piece := []byte(large[:1000]); r.Context().Err() == nil; {
			if _, err := w.Write(piece); err != nil {
				break
			}
			_ = http.NewResponseController(w).Flush()
		}
	default:
		return false
	}
	gone <- struct{}{}
	return true
}

func (g *going) request(ctx context.Context, method, path, userAgent string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, g.server.at(g.by, path), body)
	if err != nil {
		panic(err)
	}
	r.Header.Set("User-Agent", userAgent)
	return r
}

// whileReading makes the crawler disconnect whose request caused the fetch of
// robots.txt, while another crawler waits for the same fetch.
func (g *going) whileReading() {
	g.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	var both sync.WaitGroup
	both.Go(func() {
		if got := statusAndBody(g.client, g.request(ctx, http.MethodGet, "/private/first", harness.Bingbot, nil)); !strings.Contains(got, "context canceled") &&
			!strings.Contains(got, "closed") { // the connection of HTTP/1.0
			g.t.Errorf("the disconnected crawler got %q", got)
		}
	})
	harness.Eventually(g.t, "the robots.txt is requested", func() bool { return g.origin.Requests("/robots.txt") == 1 })
	both.Go(func() {
		if got := statusAndBody(g.client, g.request(context.Background(), http.MethodGet, "/private/second", harness.Bingbot, nil)); !strings.HasPrefix(got, "403 ") {
			g.t.Errorf("the waiting crawler got %q", got)
		}
	})
	leave()
	harness.Eventually(g.t, "the server has noticed the disconnect of the first client", func() bool {
		return g.server.Metrics().Sum(harness.RequestsMetric, `verdict="unknown"`) == 1
	})
	close(g.hold)
	both.Wait()
	if n := g.origin.Requests("/robots.txt"); n != 1 || g.aborted.Load() != 0 {
		g.t.Errorf("robots.txt was requested %d times, of which %d were aborted", n, g.aborted.Load())
	}
	if n := g.origin.Requests("/private/first"); n != 0 {
		g.t.Errorf("the origin got the request of the disconnected crawler")
	}
}

// round makes n concurrent clients disconnect in each way.
func (g *going) round(n int) {
	g.t.Helper()
	var all sync.WaitGroup
	for range n {
		for _, userAgent := range []string{harness.Firefox, harness.Bingbot} {
			all.Go(func() { g.leave(http.MethodGet, "/never", userAgent) })
			all.Go(func() { g.leave(http.MethodGet, "/down", userAgent) })
			if g.by.name != "HTTP/1.0" { // bodies have a length in HTTP/1.0
				all.Go(func() { g.leave(http.MethodPost, "/up", userAgent) })
			}
		}
	}
	all.Wait()
	if g.by.name != "HTTP/1.0" {
		g.leaveRefused(n)
	}
}

// leave disconnects when the origin has the request, or when a part of the response or
// of the body has arrived.
func (g *going) leave(method, path, userAgent string) {
	ctx, leave := context.WithTimeout(context.Background(), harness.Patience)
	defer leave()
	query := fmt.Sprint(g.count.Add(1))
	body := endless(ctx, method)
	left := make(chan struct{})
	go func() { // returns at the end of the request
		defer close(left)
		response, err := g.client.Do(g.request(ctx, method, path+"?"+query, userAgent, body))
		if err != nil {
			return
		}
		defer response.Body.Close()
		if _, err := io.ReadFull(response.Body, make([]byte, 5)); err == nil {
			leave()
		}
	}()
	if path != "/down" {
		g.await(g.came.of(query), path+" has come")
		leave()
	}
	g.await(g.gone.of(query), "the client of "+path+" has gone")
	<-left
}

// leaveRefused disconnects while it sends the body of a blocked request.
func (g *going) leaveRefused(n int) {
	g.t.Helper()
	blocked := func() float64 { return g.server.Metrics().Sum(harness.RequestsMetric, `action="blocked"`) }
	want := blocked() + float64(n)
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			body := endless(ctx, http.MethodPost)
			response, err := g.client.Do(g.request(ctx, http.MethodPost, "/private/x", harness.Bingbot, body))
			if err != nil {
				return
			}
			defer response.Body.Close()
			if response.StatusCode != 403 {
				g.t.Errorf("a disallowed upload got %d", response.StatusCode)
			}
			<-ctx.Done()
		})
	}
	harness.Eventually(g.t, "all are refused", func() bool { return blocked() == want })
	leave()
	all.Wait()
}

// await waits for a turn.
func (g *going) await(turn <-chan struct{}, what string) {
	select {
	case <-turn:
	case <-time.After(harness.Patience):
		g.t.Errorf("timeout while waiting for: %s", what)
	}
}

// endless returns an endless body with a first part, or nil for GET. The body ends when
// ctx ends, because the client of HTTP/1.1 waits for its body.
func endless(ctx context.Context, method string) io.Reader {
	if method == http.MethodGet {
		return nil
	}
	in, out := io.Pipe()
	go func() { _, _ = io.WriteString(out, "first") }() // returns at the end of the body
	context.AfterFunc(ctx, func() { _ = in.CloseWithError(context.Canceled) })
	return in
}
