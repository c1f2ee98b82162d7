package guard

import (
	"cmp"
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

// These are the errors of a fetch without a request.
var (
	errNoSite  = errors.New("the configuration no longer has this site")
	errNoProxy = errors.New("the site is behind a proxy, and no crawler has come through it since the start; the first crawler's request starts the fetch")
)

// FetchNow fetches the robots.txt of a cache entry and waits until the fetch or ctx ends. find
// returns the guard and the server of a key. FetchNow returns an error if no fetch could start or
// ctx ended. The result of the fetch is in the entry's state.
func (s *State) FetchNow(ctx context.Context, e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) error {
	refresh, err := s.prepareFetchWithoutRequest(e, find)
	if err != nil {
		return err
	}
	return fetchEntryNow(ctx, e, refresh)
}

// GetOrCreateEntryFor returns the cache entry for an authority, such as example.com:8080, and
// creates the entry if needed. GetOrCreateEntryFor returns nil if the server's configuration does
// not name the host.
func (g *Guard) GetOrCreateEntryFor(server *caddyhttp.Server, authority string, secure bool) *policy.Entry {
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

// KeyForAuthority returns the key of the robots.txt for an authority at a server.
func (g *Guard) KeyForAuthority(server *caddyhttp.Server, authority string, secure bool) policy.Key {
	return g.siteForAuthority(server, authority, secure).Key
}

// siteForAuthority returns the site of an authority at a server.
func (g *Guard) siteForAuthority(server *caddyhttp.Server, authority string, secure bool) site.Site {
	return g.withSourceKey(site.NewSite(g.configuredHosts(server).KeyForAuthority(authority, secure)))
}

// prepareFetchWithoutRequest returns a function that starts a fetch of an entry's robots.txt
// without a client's request, like [policy.Entry.Refresh].
func (s *State) prepareFetchWithoutRequest(e *policy.Entry, find func(policy.Key) (*Guard, *caddyhttp.Server)) (func() <-chan struct{}, error) {
	key := e.Key()
	if key.Source != "" {
		g := s.sources.guardForSource(key)
		if g == nil {
			return nil, errNoSite
		}
		refresh, _ := g.prepareFetch(nil, e, g.siteForSource(key)) // A URL or a file needs no request.
		return refresh, nil
	}
	g, server := find(key)
	if g == nil || g.SourceKey != "" {
		return nil, errNoSite
	}
	r := site.NewGuardRequest(server, key, s.proxies.lastProxyOfServer(server))
	if r == nil {
		return nil, errNoProxy
	}
	refresh, ok := g.prepareFetch(r, e, new(site.NewSite(key)))
	if !ok {
		return nil, errNoSite
	}
	return refresh, nil
}

// sourceGuards has the guards of all running configurations with a URL or a file as their source.
// These guards can fetch their source without a client's request. The zero value is empty.
type sourceGuards struct {
	mu     sync.Mutex
	guards map[string][]*Guard // The key is the SourceKey. The guards are in the order of configuration.
}

// add registers a guard with a source until ctx ends.
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

// guardForSource returns the last configured guard that uses the source of a robots.txt, or nil.
func (s *sourceGuards) guardForSource(key policy.Key) *Guard {
	s.mu.Lock()
	defer s.mu.Unlock()
	guards := s.guardsForSource(key)
	if len(guards) == 0 {
		return nil
	}
	return guards[len(guards)-1]
}

// guardsForSource returns the guards that use the source of a robots.txt. Of the SourceKeys with a
// placeholder, the longest that matches is used, since it is the most specific. The caller must have
// locked s.mu.
func (s *sourceGuards) guardsForSource(key policy.Key) []*Guard {
	if guards := s.guards[key.Source]; len(guards) > 0 {
		return guards
	}
	longest := ""
	for template := range s.guards {
		if site.IsKeyOfTemplate(key.Source, template) && cmp.Or(cmp.Compare(len(template), len(longest)), cmp.Compare(template, longest)) > 0 {
			longest = template
		}
	}
	return s.guards[longest]
}

// siteForSource returns a site with a label for the log lines and metrics about a fetch of a
// source. Many sites may use the source, and the fetch is reported under one of their labels. No
// verdict depends on the choice: it is the alphabetically first label of the sites recorded for the
// source and of the site that the guard judged first.
func (g *Guard) siteForSource(key policy.Key) *site.Site {
	s := &site.Site{Key: key, CacheSegment: key.Segment(), Label: judge.OtherName}
	if first := g.firstJudgedLabel.Load(); first != nil && !g.hasSourcePerHost {
		s.Label = *first
	}
	for label := range g.state.siteRecords.recordsWithKey(key) {
		if s.Label == judge.OtherName || label < s.Label && label != judge.OtherName {
			s.Label = label
		}
	}
	return s
}

// seenProxies has the last trusted proxy of each server by the server's listen addresses. A fetch
// without a client's request imitates this proxy. It survives a reload. The zero value is empty.
type seenProxies struct {
	mu          sync.Mutex
	lastProxies map[string]site.TrustedProxy
}

// maxProxies bounds the servers with a remembered proxy.
const maxProxies = 256

// recordProxy records the trusted proxy of a request, if any, as the last proxy of its server.
func (p *seenProxies) recordProxy(r *http.Request) {
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

// lastProxyOfServer returns the trusted proxy recorded last for a server, or nil.
func (p *seenProxies) lastProxyOfServer(server *caddyhttp.Server) *site.TrustedProxy {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proxy, ok := p.lastProxies[site.ListenAddresses(server)]; ok {
		return &proxy
	}
	return nil
}
