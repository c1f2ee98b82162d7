package guard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Why a robots.txt cannot be read while nobody asks for its site.
var (
	errNoSite  = errors.New("no site of the configuration has it any more")
	errNoProxy = errors.New("it stands behind a proxy that has sent no crawler since the start; it is read when the first comes")
)

// ReadNow reads the robots.txt of an entry now, whether it is due or not, and waits
// for that or for the end of ctx. The guard of a site and the server that has it
// are found by find. It returns an error where no attempt was made; how an
// attempt went is in the state of the entry.
func (s *State) ReadNow(ctx context.Context, e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) error {
	refresh, err := s.refresherOf(e, find)
	if err != nil {
		return err
	}
	e.MakeDue()
	// An attempt under way may have begun before what is to be read was written.
	for tries := 0; tries < 2 && e.Due(time.Now()); {
		done := refresh()
		if done == nil { // others are being fetched
			select {
			case <-time.After(slotInterval):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		tries++
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// PolicyOf returns the policy of an authority that the configuration names at a
// server, with nothing known if nobody has asked for it yet. It is nil for another
// authority.
func (g *Guard) PolicyOf(server *caddyhttp.Server, authority string, secure bool) *policy.Entry {
	host, _ := addr.CutPort(authority)
	if _, named := g.hostsAt(server).Label(addr.Unbracket(host)); !named {
		return nil
	}
	site := g.siteAt(server, authority, secure)
	if entry := g.shared.Cache.Get(site.Key); entry != nil {
		return entry
	}
	return g.entryFor(&site)
}

// KeyAt returns whose robots.txt an authority at a server is held to.
func (g *Guard) KeyAt(server *caddyhttp.Server, authority string, secure bool) policy.Key {
	return g.siteAt(server, authority, secure).Key
}

// siteAt returns the site of an authority at a server.
func (g *Guard) siteAt(server *caddyhttp.Server, authority string, secure bool) request.Site {
	return g.sourced(request.NewSite(g.hostsAt(server).KeyAt(authority, secure)))
}

// refresherOf returns what begins to read a robots.txt without a request of a
// client.
func (s *State) refresherOf(e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) (func() <-chan struct{}, error) {
	key := e.Key()
	if key.Source != "" {
		source := s.sources.of(key)
		if source == nil {
			return nil, errNoSite
		}
		return func() <-chan struct{} {
			return e.Refresh(source.freshness, source.fetch(key), source.onFetched(key))
		}, nil
	}
	g, server := find(key)
	if g == nil || g.SourceKey != "" {
		return nil, errNoSite
	}
	r := request.For(server, key, s.proxies.of(server))
	if r == nil {
		return nil, errNoProxy
	}
	refresh, ok := g.refresher(r, e, new(request.NewSite(key)))
	if !ok {
		return nil, errNoSite
	}
	return refresh, nil
}

// proxies remember how a trusted proxy passes on requests, by where its server
// listens. They outlive a reload. The zero proxies are empty.
type proxies struct {
	mu   sync.Mutex
	last map[string]request.Proxy
}

// maxProxies bounds the servers for which a proxy is remembered; a configuration
// has few.
const maxProxies = 256

// saw remembers how a request came, if it came through a proxy.
func (p *proxies) saw(r *http.Request) {
	proxy := request.ProxyOf(r)
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if proxy == nil || !ok {
		return
	}
	name := listensAt(server)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = make(map[string]request.Proxy)
	}
	if _, known := p.last[name]; known || len(p.last) < maxProxies {
		p.last[name] = *proxy
	}
}

// of returns the proxy before a server, nil if none is known.
func (p *proxies) of(server *caddyhttp.Server) *request.Proxy {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proxy, ok := p.last[listensAt(server)]; ok {
		return &proxy
	}
	return nil
}

func listensAt(server *caddyhttp.Server) string { return strings.Join(server.Listen, ",") }
