package origin

import (
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// isBeside reports whether a URL is the robots.txt of another of the hosts that the server names
// itself, as where all of www is redirected to the host without. The server need not be able to
// reach itself by that name. Where a redirect leads is the choice of the origin, so no other
// path is asked for like that: a host may want a certificate of its clients.
func (a authority) isBeside(u *url.URL, hosts *request.Hosts) bool {
	if u.Scheme != a.scheme || u.RequestURI() != "/robots.txt" || a.host == "" {
		return false
	}
	host, port := addr.CutPort(request.NormalHost(u.Host, a.scheme == "https"))
	if _, own := addr.CutPort(a.names[0]); port != own {
		return false
	}
	_, named := hosts.Label(addr.Unbracket(host))
	return named
}

// forHost returns a virtual request as it would be for another host of the server.
func forHost(virtual *http.Request, host string) *http.Request {
	other := virtual.Clone(virtual.Context())
	other.Host = host
	if other.TLS != nil && other.TLS.ServerName != "" {
		state := *other.TLS
		name, _ := addr.CutPort(host)
		state.ServerName = addr.Unbracket(name)
		other.TLS = &state
	}
	return other
}
