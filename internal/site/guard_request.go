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

// TrustedProxy describes how a trusted proxy forwards requests.
type TrustedProxy struct {
	RemoteAddr string // RemoteAddr is the address of the proxy's connections.
	SetsProto  bool   // SetsProto is true if the proxy sets X-Forwarded-Proto.
	SetsHost   bool   // SetsHost is true if the proxy sets X-Forwarded-Host.
}

// TrustedProxyOf returns the description of the trusted proxy that sent a request, or nil if no
// trusted proxy sent it.
func TrustedProxyOf(r *http.Request) *TrustedProxy {
	if !IsTrustedProxy(r) {
		return nil
	}
	return &TrustedProxy{RemoteAddr: r.RemoteAddr, SetsProto: LastForwardedLine(r.Header, ForwardedProto) != "", SetsHost: LastForwardedLine(r.Header, ForwardedHost) != ""}
}

// NewGuardRequest returns a request for the robots.txt of a site as a client would send it to
// server, for a fetch that no client's request caused. proxy is a known proxy of the site or nil.
// NewGuardRequest returns nil if the site needs a proxy and none is known, for example for https on
// a server without TLS. It also returns nil if the key has only a digest of the host.
func NewGuardRequest(server *caddyhttp.Server, key policy.Key, proxy *TrustedProxy) *http.Request {
	encrypted := usesTLS(server)
	proxied := key.ForwardedHost != "" || key.IsHTTPS != encrypted
	if strings.HasPrefix(key.Host, Digested) || proxied && proxy == nil {
		return nil
	}
	host, port := addr.SplitPort(key.Host)
	number := parsePortOrDefault(port, encrypted) // The port is 0 if it is invalid, which is accepted.
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
		r.Header.Set(ForwardedProto, SchemeOf(key.IsHTTPS))
	}
	if proxy.SetsHost {
		r.Header.Set(ForwardedHost, key.Host)
	}
	if key.ForwardedHost != "" {
		r.Header.Set(ForwardedHost, key.ForwardedHost)
	}
	return r
}

// FindHandlerOfSite returns the handler of a site for which matches returns true. If several
// servers have the host, FindHandlerOfSite searches only the server named in the key.
func FindHandlerOfSite(servers []*caddyhttp.Server, sites *Sites, key policy.Key, matches func(caddyhttp.MiddlewareHandler) bool) FoundHandler {
	if key.Server != "" {
		for _, server := range servers {
			if sites.HostsOfServer(server).ServerName == key.Server {
				servers = []*caddyhttp.Server{server}
				break
			}
		}
	}
	return FindHandler(servers, key.Host, key.IsHTTPS, matches)
}
