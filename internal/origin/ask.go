package origin

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// How many hosts of a configuration are asked, and how long each may take.
const (
	mostAsked = 100
	askTime   = 5 * time.Second
)

// AskEach has robots.txt files asked for, one after the other in the background: for each of
// all it calls ask with each of the hosts that hostsOf returns and their server, which is one
// of the configuration of ctx. The context of ask ends with the time that one may take. stop
// ends all of it, and waits until it has ended.
func AskEach[T any](ctx caddy.Context, all []T, hostsOf func(T) (server string, hosts []string), ask func(ctx context.Context, server *caddyhttp.Server, host string, of T)) (stop func()) {
	app, err := ctx.AppIfConfigured("http")
	if err != nil || len(all) == 0 {
		return func() {}
	}
	servers := app.(*caddyhttp.App).Servers
	running, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		left := mostAsked
		for _, of := range all {
			server, hosts := hostsOf(of)
			for _, host := range hosts {
				if left--; left < 0 || running.Err() != nil {
					return
				}
				timed, cancel := context.WithTimeout(running, askTime)
				ask(timed, servers[server], host, of)
				cancel()
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// Ask asks a server for the robots.txt of a host, once, as a crawler would. Values of
// ctx are those of the request. The status is 0 if no handler answers.
func Ask(ctx context.Context, server *caddyhttp.Server, host string) policy.Answer {
	secure := len(server.TLSConnPolicies) > 0
	r := (&http.Request{Host: host}).WithContext(context.WithValue(ctx, caddyhttp.ServerCtxKey, server))
	if secure {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: host}
	}
	rec, ended := newRecorder(), make(chan error, 1)
	virtual := virtualRequest(r, policy.Key{Host: host, Secure: secure}, Witness{}, outsiderOf(server, netip.Addr{}))
	virtual.URL, virtual.RequestURI = &url.URL{Path: "/robots.txt"}, "/robots.txt"
	bypassHealthChecks(server)
	met := new(exchange)
	inner, cancel := context.WithCancel(context.WithValue(virtual.Context(), exchangeKey{}, met))
	defer cancel()
	go func() { ended <- serveRecovered(server, rec, virtual.WithContext(inner)) }()
	select {
	case err := <-ended:
		if direct := met.take(); direct != nil {
			return *direct
		}
		got := rec.take()
		return policy.Answer{Status: got.status, Header: got.header, Err: err}
	case <-ctx.Done():
		return policy.Answer{Err: context.Cause(ctx)}
	}
}
