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

// NewOrigin returns an origin that answers with this robots.txt, and with
// "origin" and the path to everything else. special may answer instead, and
// says whether it did.
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

// NewChangingOrigin returns an origin and what its robots.txt is.
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

// Address is host and port.
func (o *Origin) Address() string { return o.Listener.Addr().String() }

// SelfTestUserAgents are those of the guard's self-test at start. They are repeated here, since
// internal/origin imports Caddy, which most modules of tests do without.
var SelfTestUserAgents = [...]string{
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot) RobotsGuard/1 (+https://github.com/robotsguard/caddy-robots-guard)",
}

// IsSelfTest reports whether a request is one of the guard's self-test at start.
func IsSelfTest(r *http.Request) bool { return slices.Contains(SelfTestUserAgents[:], r.UserAgent()) }

// AnswerSelfTest has the origin count and answer the requests of the self-test like others.
// Otherwise they are answered 404 and do not count, so that a test can count the requests that
// it causes. It must be called before the server starts.
func (o *Origin) AnswerSelfTest() *Origin {
	o.tests.Store(true)
	return o
}

// Requests returns how often a target was asked for.
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

// GoDown has the origin answer nobody any more. Its port stays taken, or another
// test's origin could get it.
func (o *Origin) GoDown() { o.down.Store(true) }
