package request

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Proxy is how a trusted proxy passes requests on to a server.
type Proxy struct {
	RemoteAddr string // where its connections come from
	Proto      bool   // it sets X-Forwarded-Proto
	Host       bool   // it sets X-Forwarded-Host
}

// ProxyOf returns the trusted proxy that a request came through, nil if it came
// through none.
func ProxyOf(r *http.Request) *Proxy {
	if !IsTrustedProxy(r) {
		return nil
	}
	return &Proxy{RemoteAddr: r.RemoteAddr, Proto: LastForwarded(r.Header, ForwardedProto) != "", Host: LastForwarded(r.Header, ForwardedHost) != ""}
}

// For makes a request to a server for the robots.txt of a site, as a client's
// would be, so that it can be read while nobody asks. It returns nil where that
// takes a proxy and none is known: a server without TLS has an https site only
// behind one. A host that only its digest is known of cannot be asked for, either.
func For(server *caddyhttp.Server, key policy.Key, proxy *Proxy) *http.Request {
	encrypted := isSecure(server)
	proxied := key.ForwardedHost != "" || key.Secure != encrypted
	if strings.HasPrefix(key.Host, Digested) || proxied && proxy == nil {
		return nil
	}
	host, port := addr.CutPort(key.Host)
	number := portOf(port, encrypted) // 0 is as good as any
	ctx := context.WithValue(context.Background(), caddyhttp.ServerCtxKey, server)
	ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: proxied})
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: number})
	r := (&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/robots.txt"}, Header: make(http.Header), Host: key.Host}).WithContext(ctx)
	if encrypted {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: addr.Unbracket(host)}
	}
	if !proxied {
		return r
	}
	r.RemoteAddr = proxy.RemoteAddr
	if proxy.Proto {
		r.Header.Set(ForwardedProto, SchemeOf(key.Secure))
	}
	if proxy.Host {
		r.Header.Set(ForwardedHost, key.Host)
	}
	if key.ForwardedHost != "" {
		r.Header.Set(ForwardedHost, key.ForwardedHost)
	}
	return r
}

// FindFor returns the handler for which is is true that a site has: the one at the
// server that its key names, where several have its host.
func FindFor(servers []*caddyhttp.Server, sites *Sites, key policy.Key, is func(caddyhttp.MiddlewareHandler) bool) Found {
	if key.Server != "" {
		for _, server := range servers {
			if sites.Of(server).Name == key.Server {
				servers = []*caddyhttp.Server{server}
				break
			}
		}
	}
	return Find(servers, key.Host, key.Secure, is)
}
