package origin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// healthBypass keeps what the guard's own requests meet at an upstream from its
// passive health checks. A robots.txt that answers 500, slowly or with nonsense
// says little about the site, and reverse_proxy would close the site to
// everybody because the guard has asked.
//
// It stands in the transport of a proxy and lets all other requests pass. To
// one of the guard's that would be a failure it says that it was cancelled,
// which is the client's doing and not the upstream's, and hands the answer to
// the guard directly.
type healthBypass struct {
	proxy     *reverseproxy.Handler
	transport *http.Transport
}

// exchangeKey is where the context of a virtual request has its *exchange.
type exchangeKey struct{}

// exchange is what a virtual request has met at an upstream and the server is
// not told.
type exchange struct {
	mu     sync.Mutex
	answer *policy.Answer
	failed error // with which a handler of the site gave up
}

// Failed notes with which error a handler has ended a request of the guard's own:
// the answer that Caddy makes of it has a status alone. It returns the error.
func Failed(ctx context.Context, err error) error {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok && err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.failed = err
	}
	return err
}

// failure returns why the site failed, nil if it is not known.
func (x *exchange) failure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if handled, ok := errors.AsType[caddyhttp.HandlerError](x.failed); ok {
		return handled.Err // without the place in Caddy's code
	}
	return x.failed
}

// errBypassed is what the server is told instead.
var errBypassed = fmt.Errorf("ignored by passive health checks: %w", context.Canceled)

func (x *exchange) put(a policy.Answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answer = &a
}

func (x *exchange) take() *policy.Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.answer
}

// bypassHealthChecks puts a bypass into all proxies of a server that have passive
// health checks and speak HTTP without TLS to their upstreams.
func bypassHealthChecks(server *caddyhttp.Server) {
	request.Walk(server, func(_ request.Place, route caddyhttp.Route) {
		for _, handler := range route.Handlers {
			if proxy, ok := handler.(*reverseproxy.Handler); ok {
				bypassProxy(proxy)
			}
		}
	})
}

func bypassProxy(proxy *reverseproxy.Handler) {
	if proxy.HealthChecks == nil || proxy.HealthChecks.Passive == nil || proxy.HealthChecks.Passive.FailDuration == 0 {
		return // no failure is counted
	}
	if transport, ok := proxy.Transport.(*reverseproxy.HTTPTransport); ok && transport.Transport != nil && bypassed.add(transport.Transport) {
		transport.Transport.RegisterProtocol("http", &healthBypass{proxy, transport.Transport})
	}
}

// bypassed are the transports that have a bypass, as long as they live: a second
// protocol of one name cannot be registered, and there is no way to ask a
// transport for the first.
var bypassed bypasses

type bypasses struct{ known sync.Map } // of weak.Pointer[http.Transport]

// add reports whether a transport has no bypass yet, and notes that it has one.
func (s *bypasses) add(transport *http.Transport) bool {
	key := weak.Make(transport)
	if _, there := s.known.LoadOrStore(key, nil); there {
		return false
	}
	runtime.AddCleanup(transport, func(key weak.Pointer[http.Transport]) { s.known.Delete(key) }, key)
	return true
}

// RoundTrip implements [http.RoundTripper], as
// [http.Transport.RegisterProtocol] wants it.
func (s *healthBypass) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return nil, http.ErrSkipAltProtocol
	}
	start := time.Now()
	// Without its exchange the request passes the second time.
	resp, err := s.transport.RoundTrip(req.WithContext(context.WithValue(req.Context(), exchangeKey{}, nil)))
	switch {
	case errors.Is(err, context.Canceled), err != nil && s.triesOthers(err):
		return nil, err
	case err != nil:
		x.put(policy.Answer{Err: err})
		return nil, errBypassed
	case !s.countsAsFailure(resp.StatusCode, time.Since(start)):
		return resp, nil
	}
	defer resp.Body.Close()
	x.put(answerIn(resp, req.Header))
	return nil, errBypassed
}

// triesOthers reports whether the proxy goes on to the next upstream after one
// that cannot be reached at all. Only by counting that as a failure it finds one
// that can.
func (s *healthBypass) triesOthers(err error) bool {
	_, unreached := errors.AsType[reverseproxy.DialError](err)
	balancing := s.proxy.LoadBalancing
	return unreached && balancing != nil && (balancing.Retries > 0 || balancing.TryDuration > 0)
}

// countsAsFailure reports whether the passive health checks hold an answer
// against the upstream. Near the latency that they allow it says so, too, for
// they measure a little more.
func (s *healthBypass) countsAsFailure(status int, took time.Duration) bool {
	checks := s.proxy.HealthChecks.Passive
	if slow := time.Duration(checks.UnhealthyLatency); slow > 0 && took >= slow-slow/4 {
		return true
	}
	return slices.ContainsFunc(checks.UnhealthyStatus, func(bad int) bool {
		return caddyhttp.StatusCodeMatches(status, bad)
	})
}
