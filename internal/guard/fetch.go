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
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Errors of a fetch without a request.
var (
	errNoSite  = errors.New("the configuration no longer has this site")
	errNoProxy = errors.New("the site is behind a proxy that has sent no crawler since the start; the first crawler starts a fetch")
)

// ReadNow fetches the robots.txt of an entry and waits for the end of the fetch or of ctx. find returns
// the guard and the server of a site. ReadNow returns an error if it could not start a fetch. The
// result of a fetch is in the entry's state.
func (s *State) ReadNow(ctx context.Context, e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) error {
	refresh, err := s.refresherOf(e, find)
	if err != nil {
		return err
	}
	e.MakeDue()
	// A fetch under way may have started before the file was written.
	for tries := 0; tries < 2 && e.IsDue(time.Now()); {
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

// PolicyOf returns the entry of an authority that the configuration names at a server, creating it if
// needed. It returns nil for other authorities.
func (g *Guard) PolicyOf(server *caddyhttp.Server, authority string, secure bool) *policy.Entry {
	host, _ := addr.SplitPort(authority)
	if _, named := g.hostsAt(server).Label(addr.Unbracket(host)); !named {
		return nil
	}
	site := g.siteAt(server, authority, secure)
	if entry := g.shared.Cache.Get(site.Key); entry != nil {
		return entry
	}
	return g.entryFor(&site)
}

// KeyAt returns the key of the robots.txt that applies to an authority at a server.
func (g *Guard) KeyAt(server *caddyhttp.Server, authority string, secure bool) policy.Key {
	return g.siteAt(server, authority, secure).Key
}

// siteAt returns the site of an authority at a server.
func (g *Guard) siteAt(server *caddyhttp.Server, authority string, secure bool) site.Site {
	return g.sourced(site.NewSite(g.hostsAt(server).KeyAt(authority, secure)))
}

// refresherOf returns a function that starts a fetch without a client's request.
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
	r := site.RequestFor(server, key, s.proxies.of(server))
	if r == nil {
		return nil, errNoProxy
	}
	refresh, ok := g.refresher(r, e, new(site.NewSite(key)))
	if !ok {
		return nil, errNoSite
	}
	return refresh, nil
}

// proxies remembers how a trusted proxy passes requests on, by the listen address of its server. It
// survives a reload. The zero value is empty.
type proxies struct {
	mu   sync.Mutex
	last map[string]site.Proxy
}

// maxProxies bounds the servers with a remembered proxy.
const maxProxies = 256

// saw remembers how a request came through a proxy.
func (p *proxies) saw(r *http.Request) {
	proxy := site.ProxyOf(r)
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if proxy == nil || !ok {
		return
	}
	name := listensAt(server)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = make(map[string]site.Proxy)
	}
	if _, known := p.last[name]; known || len(p.last) < maxProxies {
		p.last[name] = *proxy
	}
}

// of returns the proxy in front of a server, or nil.
func (p *proxies) of(server *caddyhttp.Server) *site.Proxy {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proxy, ok := p.last[listensAt(server)]; ok {
		return &proxy
	}
	return nil
}

func listensAt(server *caddyhttp.Server) string { return strings.Join(server.Listen, ",") }
