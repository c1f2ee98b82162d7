package site

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

// TrustedProxy describes the requests of a trusted proxy.
type TrustedProxy struct {
	RemoteAddr string // address of its connections
	SetsProto  bool   // the proxy sets X-Forwarded-Proto
	SetsHost   bool   // the proxy sets X-Forwarded-Host
}

// TrustedProxyOf returns the trusted proxy of a request, or nil.
func TrustedProxyOf(r *http.Request) *TrustedProxy {
	if !IsTrustedProxy(r) {
		return nil
	}
	return &TrustedProxy{RemoteAddr: r.RemoteAddr, SetsProto: LastForwarded(r.Header, ForwardedProto) != "", SetsHost: LastForwarded(r.Header, ForwardedHost) != ""}
}

// NewVirtualRequest returns a request to a server for the robots.txt of a site, like a client's request,
// for a fetch without a client. It returns nil for an https site on a server without TLS if no
// proxy is known, and for a host only known by its digest.
func NewVirtualRequest(server *caddyhttp.Server, key policy.Key, proxy *TrustedProxy) *http.Request {
	encrypted := isSecure(server)
	proxied := key.ForwardedHost != "" || key.Secure != encrypted
	if strings.HasPrefix(key.Host, Digested) || proxied && proxy == nil {
		return nil
	}
	host, port := addr.SplitPort(key.Host)
	number := portOrDefault(port, encrypted) // 0 if invalid, which is accepted
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
	if proxy.SetsProto {
		r.Header.Set(ForwardedProto, SchemeOf(key.Secure))
	}
	if proxy.SetsHost {
		r.Header.Set(ForwardedHost, key.Host)
	}
	if key.ForwardedHost != "" {
		r.Header.Set(ForwardedHost, key.ForwardedHost)
	}
	return r
}

// FindHandlerFor returns the handler of a site for which is returns true. If several servers have
// the host, FindHandlerFor searches the server in the key.
func FindHandlerFor(servers []*caddyhttp.Server, sites *Sites, key policy.Key, is func(caddyhttp.MiddlewareHandler) bool) FoundHandler {
	if key.Server != "" {
		for _, server := range servers {
			if sites.HostsOf(server).Name == key.Server {
				servers = []*caddyhttp.Server{server}
				break
			}
		}
	}
	return FindHandler(servers, key.Host, key.Secure, is)
}
