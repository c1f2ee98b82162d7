package site

import (
	"context"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// configuredHostsAt returns the configured hosts of the server that serves a redirect's target, or nil if the
// target is not the robots.txt of a configured host. Examples are redirects from www.example.com to
// example.com and from http to https. Caddy may be unable to connect to itself by that name. The
// origin chooses the target, so configuredHostsAt accepts no other path. Another host may require client
// certificates.
func (s *ServerSource) configuredHostsAt(u *url.URL, own authority, server *caddyhttp.Server) *Hosts {
	if s.Sites == nil || u.RequestURI() != "/robots.txt" || own.host == "" {
		return nil
	}
	secure := u.Scheme == "https"
	host, port := addr.SplitPort(NormalHost(u.Host, secure))
	if _, ownPort := addr.SplitPort(own.normalizedHosts[0]); u.Scheme == own.scheme && port == ownPort {
		// The same port, although the server may listen at another one behind a port mapping.
		if hosts := s.Sites.Of(server); hosts.IsNamed(host) {
			return hosts
		}
	}
	return s.Sites.HostsAt(host+port, secure)
}

// requestForHost returns the template for a request to another configured host, with the User-Agent of r.
func (s *ServerSource) requestForHost(u *url.URL, hosts *Hosts, r *http.Request) *http.Request {
	secure := u.Scheme == "https"
	key := hosts.KeyAt(AsSent(u.Host, secure), secure)
	other := RequestFor(hosts.Server, key, nil) // not nil, since the scheme is that of the server
	ctx := context.WithValue(other.Context(), userAgentKey{}, r.Context().Value(userAgentKey{}))
	return virtualRequest(other.WithContext(ctx), key, newVirtualClient(hosts.Server, s.ClientAddr))
}
