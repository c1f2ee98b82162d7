package origin

import (
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// isBeside reports whether a URL is the robots.txt of another configured host of the server. An
// example is a redirect from www.example.com to example.com. The server may be unable to connect to
// itself by that name. The origin chooses the target, so isBeside accepts no other path. Another
// host may require client certificates.
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

// forHost returns a copy of a virtual request for another host of the server.
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
