package guard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Errors of a fetch without a request.
var (
	errNoSite  = errors.New("the configuration no longer has this site")
	errNoProxy = errors.New("the site is behind a proxy that has sent no crawler since the start; the first crawler starts a fetch")
)

// FetchNow fetches the robots.txt of an entry and waits for the end of the fetch or of ctx. find
// returns the guard and the server of a site. FetchNow returns an error if no fetch could start. The
// result of a fetch is in the entry's state.
func (s *State) FetchNow(ctx context.Context, e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) error {
	refresh, err := s.newRefresher(e, find)
	if err != nil {
		return err
	}
	return fetchNow(ctx, e, refresh)
}

// PolicyOf returns the entry of an authority configured at a server, and creates the entry if
// needed. It returns nil for other authorities.
func (g *Guard) PolicyOf(server *caddyhttp.Server, authority string, secure bool) *policy.Entry {
	host, _ := addr.SplitPort(authority)
	if _, named := g.configuredHosts(server).Label(addr.Unbracket(host)); !named {
		return nil
	}
	site := g.siteForAuthority(server, authority, secure)
	if entry := g.state.Cache.Get(site.Key); entry != nil {
		return entry
	}
	return g.getOrCreateEntry(&site)
}

// KeyAt returns the key of the robots.txt for an authority at a server.
func (g *Guard) KeyAt(server *caddyhttp.Server, authority string, secure bool) policy.Key {
	return g.siteForAuthority(server, authority, secure).Key
}

// siteForAuthority returns the site of an authority at a server.
func (g *Guard) siteForAuthority(server *caddyhttp.Server, authority string, secure bool) site.Site {
	return g.withSourceKey(site.NewSite(g.configuredHosts(server).KeyForAuthority(authority, secure)))
}

// newRefresher returns a function that starts a fetch without a client's request.
func (s *State) newRefresher(e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) (func() <-chan struct{}, error) {
	key := e.Key()
	if key.Source != "" {
		g := s.sources.guardOf(key)
		if g == nil {
			return nil, errNoSite
		}
		refresh, _ := g.newRefresher(nil, e, g.siteForSource(key)) // a URL or a file needs no request
		return refresh, nil
	}
	g, server := find(key)
	if g == nil || g.SourceKey != "" {
		return nil, errNoSite
	}
	r := site.NewGuardRequest(server, key, s.proxies.proxyOf(server))
	if r == nil {
		return nil, errNoProxy
	}
	refresh, ok := g.newRefresher(r, e, new(site.NewSite(key)))
	if !ok {
		return nil, errNoSite
	}
	return refresh, nil
}

// sourceGuards has the guards of all running configurations with a URL or a file as their source. The guard
// fetches the source without a client's request. The zero value is empty.
type sourceGuards struct {
	mu     sync.Mutex
	guards map[string][]*Guard // by SourceKey, in the order of configuration
}

// add adds a guard until ctx ends.
func (s *sourceGuards) add(ctx context.Context, g *Guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guards == nil {
		s.guards = make(map[string][]*Guard)
	}
	key := g.SourceKey
	s.guards[key] = append(s.guards[key], g)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.guards[key] = slices.DeleteFunc(s.guards[key], func(other *Guard) bool { return other == g })
		if len(s.guards[key]) == 0 {
			delete(s.guards, key)
		}
	})
}

// guardOf returns the last configured guard with the source of a robots.txt, or nil.
func (s *sourceGuards) guardOf(key policy.Key) *Guard {
	s.mu.Lock()
	defer s.mu.Unlock()
	guards := s.guards[key.Source]
	if len(guards) == 0 {
		for source, other := range s.guards {
			if site.IsKeyOfTemplate(key.Source, source) {
				guards = other
			}
		}
	}
	if len(guards) == 0 {
		return nil
	}
	return guards[len(guards)-1]
}

// siteForSource returns a site for log lines and metrics about a fetch of a source. The source may
// belong to all sites of the guard and is reported once. Where another guard has the records of all
// these sites, siteForSource returns the site that this guard judged first.
func (g *Guard) siteForSource(key policy.Key) *site.Site {
	s := &site.Site{Key: key, Segment: key.Segment(), Label: judge.OtherName}
	if first := g.firstLabel.Load(); first != nil && !g.hasSourcePerHost {
		s.Label = *first
	}
	for label := range g.state.siteRecords.recordsWithKey(key) {
		if s.Label == judge.OtherName || label < s.Label && label != judge.OtherName {
			s.Label = label
		}
	}
	return s
}

// seenProxies remembers how a trusted proxy passes requests on, by the listen address of its server. It
// survives a reload. The zero value is empty.
type seenProxies struct {
	mu          sync.Mutex
	lastProxies map[string]site.TrustedProxy
}

// maxProxies bounds the servers with a remembered proxy.
const maxProxies = 256

// record remembers how a request came through a proxy.
func (p *seenProxies) record(r *http.Request) {
	proxy := site.TrustedProxyOf(r)
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if proxy == nil || !ok {
		return
	}
	name := site.ListenAddresses(server)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastProxies == nil {
		p.lastProxies = make(map[string]site.TrustedProxy)
	}
	if _, known := p.lastProxies[name]; known || len(p.lastProxies) < maxProxies {
		p.lastProxies[name] = *proxy
	}
}

// proxyOf returns the proxy in front of a server, or nil.
func (p *seenProxies) proxyOf(server *caddyhttp.Server) *site.TrustedProxy {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proxy, ok := p.lastProxies[site.ListenAddresses(server)]; ok {
		return &proxy
	}
	return nil
}
