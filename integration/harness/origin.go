package harness

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Origin is a server behind the proxy.
type Origin struct {
	*httptest.Server
	mu    sync.Mutex
	count map[string]int // by request target
	seen  []*http.Request
	down  atomic.Bool
	tests atomic.Bool // see AnswerSelfTest
}

// NewOrigin returns an origin that responds with the given robots.txt, and to every
// other request with "origin" and the path. If special is not nil, it may respond
// instead. It reports whether it did.
func NewOrigin(t testing.TB, robots string, special func(http.ResponseWriter, *http.Request) bool) *Origin {
	t.Helper()
	o := &Origin{count: make(map[string]int)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		if o.down.Load() {
			o.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		if IsSelfTest(r) && !o.tests.Load() {
			o.mu.Unlock()
			http.NotFound(w, r)
			return
		}
		o.count[r.RequestURI]++
		o.seen = append(o.seen, r.Clone(context.Background()))
		o.mu.Unlock()
		switch {
		case special != nil && special(w, r):
		case r.URL.Path == "/robots.txt":
			_, _ = io.WriteString(w, robots)
		default:
			_, _ = io.WriteString(w, "origin "+r.URL.Path)
		}
	}))
	t.Cleanup(func() {
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

// NewChangingOrigin returns an origin and the variable that holds its robots.txt.
func NewChangingOrigin(t testing.TB, text string) (*Origin, *atomic.Value) {
	t.Helper()
	var robots atomic.Value
	robots.Store(text)
	return NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, robots.Load().(string))
			return true
		}
		return false
	}), &robots
}

// Address returns the host and port of the origin.
func (o *Origin) Address() string { return o.Listener.Addr().String() }

// SelfTestUserAgents are the User-Agents of the guard's self-test at start. They are a
// copy, because internal/site imports Caddy, on which most test modules do not
// depend.
var SelfTestUserAgents = [...]string{
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot) RobotsGuard/1 (+https://github.com/robotsguard/caddy-robots-guard)",
}

// IsSelfTest reports whether a request belongs to the guard's self-test at start.
func IsSelfTest(r *http.Request) bool { return slices.Contains(SelfTestUserAgents[:], r.UserAgent()) }

// AnswerSelfTest makes the origin count and answer the requests of the self-test like
// other requests. By default the origin answers them with 404 and does not count them,
// so that a test can count its own requests. Call AnswerSelfTest before the server
// starts.
func (o *Origin) AnswerSelfTest() *Origin {
	o.tests.Store(true)
	return o
}

// Requests returns the number of requests for a target.
func (o *Origin) Requests(target string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count[target]
}

// Seen returns all requests so far.
func (o *Origin) Seen() []*http.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[:len(o.seen):len(o.seen)]
}

// GoDown makes the origin abort every connection. The origin keeps its port, so that
// the origin of another test cannot get it.
func (o *Origin) GoDown() { o.down.Store(true) }
