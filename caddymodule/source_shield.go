package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// shield keeps what the guard's own requests meet at an upstream from its
// passive health checks. A robots.txt that answers 500, slowly or with nonsense
// says little about the site, and reverse_proxy would close the site to
// everybody because the guard has asked.
//
// It stands in the transport of a proxy and lets all other requests pass. To
// one of the guard's that would be a failure it says that it was cancelled,
// which is the client's doing and not the upstream's, and hands the answer to
// the guard directly.
type shield struct {
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
}

// errShielded is what the server is told instead.
var errShielded = fmt.Errorf("not to be held against the upstream: %w", context.Canceled)

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

// shieldProxies puts a shield into all proxies of a server that have passive
// health checks and speak HTTP without TLS to their upstreams. It changes
// nothing where there is one already.
func shieldProxies(server *caddyhttp.Server) {
	shieldRoutes(server.Routes)
	if server.Errors != nil {
		shieldRoutes(server.Errors.Routes)
	}
	for _, route := range server.NamedRoutes {
		shieldRoutes(caddyhttp.RouteList{*route})
	}
}

func shieldRoutes(routes caddyhttp.RouteList) {
	for _, route := range routes {
		for _, handler := range route.Handlers {
			switch handler := handler.(type) {
			case *caddyhttp.Subroute:
				shieldRoutes(handler.Routes)
			case *reverseproxy.Handler:
				shieldProxy(handler)
				for _, response := range handler.HandleResponse {
					shieldRoutes(response.Routes)
				}
			}
		}
	}
}

func shieldProxy(proxy *reverseproxy.Handler) {
	if proxy.HealthChecks == nil || proxy.HealthChecks.Passive == nil || proxy.HealthChecks.Passive.FailDuration == 0 {
		return // no failure is counted
	}
	if transport, ok := proxy.Transport.(*reverseproxy.HTTPTransport); ok && transport.Transport != nil {
		defer func() { _ = recover() }() // there is one: another site of the server has this proxy, too
		transport.Transport.RegisterProtocol("http", &shield{proxy, transport.Transport})
	}
}

// RoundTrip implements [http.RoundTripper], as
// [http.Transport.RegisterProtocol] wants it.
func (s *shield) RoundTrip(req *http.Request) (*http.Response, error) {
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
		return nil, errShielded
	case !s.countsAsFailure(resp.StatusCode, time.Since(start)):
		return resp, nil
	}
	defer resp.Body.Close()
	x.put(answerIn(resp, req.Header))
	return nil, errShielded
}

// triesOthers reports whether the proxy goes on to the next upstream after one
// that cannot be reached at all. Only by counting that as a failure it finds one
// that can.
func (s *shield) triesOthers(err error) bool {
	var unreached reverseproxy.DialError
	balancing := s.proxy.LoadBalancing
	return errors.As(err, &unreached) && balancing != nil && (balancing.Retries > 0 || balancing.TryDuration > 0)
}

// countsAsFailure reports whether the passive health checks hold an answer
// against the upstream. Near the latency that they allow it says so, too, for
// they measure a little more.
func (s *shield) countsAsFailure(status int, took time.Duration) bool {
	checks := s.proxy.HealthChecks.Passive
	if slow := time.Duration(checks.UnhealthyLatency); slow > 0 && took >= slow-slow/4 {
		return true
	}
	return slices.ContainsFunc(checks.UnhealthyStatus, func(bad int) bool {
		return caddyhttp.StatusCodeMatches(status, bad)
	})
}
