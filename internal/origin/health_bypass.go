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

// healthBypass hides failures of the guard's own requests from the passive health checks of a
// proxy. Otherwise one robots.txt with status 500 would make reverse_proxy mark the whole upstream
// as down.
//
// healthBypass wraps the transport of a proxy and passes all requests of clients through. If a
// request of the guard fails, the bypass reports to the proxy that the client canceled the request.
// The guard gets the response directly.
type healthBypass struct {
	proxy     *reverseproxy.Handler
	transport *http.Transport
}

// exchangeKey is the context key for the *exchange of a virtual request.
type exchangeKey struct{}

// exchange has the response of an upstream to a virtual request, if the bypass hides the response
// from the server.
type exchange struct {
	mu     sync.Mutex
	answer *policy.Answer
	failed error // error of a handler of the site
}

// Failed records the error with which a handler ended a request of the guard. Caddy's response to
// that error has only a status. Failed returns err.
func Failed(ctx context.Context, err error) error {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok && err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.failed = err
	}
	return err
}

// failure returns the error of the site, or nil.
func (x *exchange) failure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if handled, ok := errors.AsType[caddyhttp.HandlerError](x.failed); ok {
		return handled.Err // without the position in Caddy's code
	}
	return x.failed
}

// errBypassed replaces the failure for the proxy.
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

// bypassHealthChecks adds a bypass to each proxy of a server that has passive health checks and
// plain HTTP upstreams.
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
		return // the proxy ignores failures
	}
	if transport, ok := proxy.Transport.(*reverseproxy.HTTPTransport); ok && transport.Transport != nil && bypassed.add(transport.Transport) {
		transport.Transport.RegisterProtocol("http", &healthBypass{proxy, transport.Transport})
	}
}

// bypassed has the transports that have a bypass, until the garbage collector frees them. A
// transport accepts each protocol name once, and has no method that lists its protocols.
var bypassed bypasses

type bypasses struct{ known sync.Map } // of weak.Pointer[http.Transport]

// add adds a transport and reports whether it is new.
func (s *bypasses) add(transport *http.Transport) bool {
	key := weak.Make(transport)
	if _, there := s.known.LoadOrStore(key, nil); there {
		return false
	}
	runtime.AddCleanup(transport, func(key weak.Pointer[http.Transport]) { s.known.Delete(key) }, key)
	return true
}

// RoundTrip implements [http.RoundTripper] for [http.Transport.RegisterProtocol].
func (s *healthBypass) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return nil, http.ErrSkipAltProtocol
	}
	start := time.Now()
	// Without its exchange, the request skips the bypass on the second pass.
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

// triesOthers reports whether the proxy tries another upstream after err. The proxy finds a
// reachable upstream only if it sees the failure.
func (s *healthBypass) triesOthers(err error) bool {
	_, unreached := errors.AsType[reverseproxy.DialError](err)
	balancing := s.proxy.LoadBalancing
	return unreached && balancing != nil && (balancing.Retries > 0 || balancing.TryDuration > 0)
}

// countsAsFailure reports whether passive health checks treat a response as a failure. The limit
// for latency is 25 % lower than configured, since the proxy measures a slightly longer time.
func (s *healthBypass) countsAsFailure(status int, took time.Duration) bool {
	checks := s.proxy.HealthChecks.Passive
	if slow := time.Duration(checks.UnhealthyLatency); slow > 0 && took >= slow-slow/4 {
		return true
	}
	return slices.ContainsFunc(checks.UnhealthyStatus, func(bad int) bool {
		return caddyhttp.StatusCodeMatches(status, bad)
	})
}
