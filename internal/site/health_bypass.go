package site

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

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// healthCheckBypass hides failures of the guard's own requests from the passive health checks of a
// proxy. Otherwise one robots.txt with status 500 would make reverse_proxy mark the whole upstream
// as down.
//
// healthCheckBypass wraps the transport of a proxy and passes all requests of clients through. If a
// request of the guard fails, the bypass reports to the proxy that the client canceled the request.
// The guard gets the response directly.
type healthCheckBypass struct {
	proxy     *reverseproxy.Handler
	transport *http.Transport
}

// hiddenOutcomeKey is the context key for the *hiddenOutcome of one of the guard's own requests.
type hiddenOutcomeKey struct{}

// hiddenOutcome has what the response to one of the guard's own requests does not show: the
// response or the error of an upstream that [healthCheckBypass] hid from the proxy, and the error
// of a handler for which Caddy wrote an error response.
type hiddenOutcome struct {
	mu           sync.Mutex
	hiddenResult *policy.FetchResult
	handlerErr   error // handlerErr is the last error of a handler of the site.
}

// RecordHandlerError returns err, and records err if ctx belongs to one of the guard's own
// requests. Without the record, the guard would know only the status of Caddy's error response. err
// is the error of a handler of the site, or nil.
func RecordHandlerError(ctx context.Context, err error) error {
	if o, ok := ctx.Value(hiddenOutcomeKey{}).(*hiddenOutcome); ok && err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.handlerErr = err
	}
	return err
}

// recordedHandlerError returns the last error passed to [RecordHandlerError], or nil.
// recordedHandlerError omits the error's position in Caddy's code.
func (o *hiddenOutcome) recordedHandlerError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if handled, ok := errors.AsType[caddyhttp.HandlerError](o.handlerErr); ok {
		return handled.Err // The error then lacks the position in Caddy's code.
	}
	return o.handlerErr
}

// errHiddenFromProxy replaces the failure for the proxy.
var errHiddenFromProxy = fmt.Errorf("ignored by passive health checks: %w", context.Canceled)

func (o *hiddenOutcome) setHiddenResult(a policy.FetchResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hiddenResult = &a
}

func (o *hiddenOutcome) getHiddenResult() *policy.FetchResult {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hiddenResult
}

// bypassHealthChecks adds a [healthCheckBypass] to each reverse_proxy of a server that has passive
// health checks and plain HTTP upstreams.
func bypassHealthChecks(server *caddyhttp.Server) {
	WalkRoutes(server, func(_ RoutePlace, route caddyhttp.Route) {
		for _, handler := range route.Handlers {
			if proxy, ok := handler.(*reverseproxy.Handler); ok {
				addHealthCheckBypass(proxy)
			}
		}
	})
}

func addHealthCheckBypass(proxy *reverseproxy.Handler) {
	if proxy.HealthChecks == nil || proxy.HealthChecks.Passive == nil || proxy.HealthChecks.Passive.FailDuration == 0 {
		return // The proxy ignores failures.
	}
	if transport, ok := proxy.Transport.(*reverseproxy.HTTPTransport); ok && transport.Transport != nil && bypassedTransports.add(transport.Transport) {
		transport.Transport.RegisterProtocol("http", &healthCheckBypass{proxy, transport.Transport})
	}
}

// bypassedTransports has the transports with a bypass, until the garbage collector frees them. A
// transport accepts each protocol name once, and has no method for listing its protocols.
var bypassedTransports transportSet

type transportSet struct{ transports sync.Map } // The elements are of the type weak.Pointer[http.Transport].

// add adds a transport and reports whether the transport is new.
func (s *transportSet) add(transport *http.Transport) bool {
	key := weak.Make(transport)
	if _, exists := s.transports.LoadOrStore(key, nil); exists {
		return false
	}
	runtime.AddCleanup(transport, func(key weak.Pointer[http.Transport]) { s.transports.Delete(key) }, key)
	return true
}

// RoundTrip implements [http.RoundTripper] for [http.Transport.RegisterProtocol].
func (s *healthCheckBypass) RoundTrip(req *http.Request) (*http.Response, error) {
	outcome, _ := req.Context().Value(hiddenOutcomeKey{}).(*hiddenOutcome)
	if outcome == nil {
		return nil, http.ErrSkipAltProtocol
	}
	start := time.Now()
	// Without its hiddenOutcome, the request skips the bypass on the second pass.
	resp, err := s.transport.RoundTrip(req.WithContext(context.WithValue(req.Context(), hiddenOutcomeKey{}, nil)))
	switch {
	case errors.Is(err, context.Canceled), err != nil && s.retriesNextUpstream(err):
		return nil, err
	case err != nil:
		outcome.setHiddenResult(policy.FetchResult{Err: err})
		return nil, errHiddenFromProxy
	case !s.isHealthFailure(resp.StatusCode, time.Since(start)):
		return resp, nil
	}
	defer resp.Body.Close()
	outcome.setHiddenResult(readFetchResult(resp, req.Header))
	return nil, errHiddenFromProxy
}

// retriesNextUpstream reports whether the proxy tries another upstream after err. The bypass must
// not hide such an error, or the proxy would not try a reachable upstream.
func (s *healthCheckBypass) retriesNextUpstream(err error) bool {
	_, isDialError := errors.AsType[reverseproxy.DialError](err)
	balancing := s.proxy.LoadBalancing
	return isDialError && balancing != nil && (balancing.Retries > 0 || balancing.TryDuration > 0)
}

// isHealthFailure reports whether passive health checks treat a response as a failure. The limit
// for latency is 25 % lower than configured, since the proxy measures a slightly longer time.
func (s *healthCheckBypass) isHealthFailure(status int, latency time.Duration) bool {
	checks := s.proxy.HealthChecks.Passive
	if maxLatency := time.Duration(checks.UnhealthyLatency); maxLatency > 0 && latency >= maxLatency-maxLatency/4 {
		return true
	}
	return slices.ContainsFunc(checks.UnhealthyStatus, func(unhealthy int) bool {
		return caddyhttp.StatusCodeMatches(status, unhealthy)
	})
}
