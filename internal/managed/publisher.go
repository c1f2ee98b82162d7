package managed

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Config is what a Publisher goes by.
type Config struct {
	Plan *Plan
	// Source is where the base comes from, nil for none. SourceKey is its path, ""
	// for what the handlers behind answer.
	Source    origin.Source
	SourceKey string
	// Staging tells which hosts have the text [Staging], nil for none.
	Staging func(host string) bool
	Sites   *request.Sites
	Bases   *policy.Cache // outlives a configuration, so that a last good base does
	Now     func() time.Time
	Logger  *zap.Logger
}

// Publisher has the texts of all hosts that a configuration is for. Texts that are
// the same are kept once.
type Publisher struct {
	Config
	since time.Time // the texts are not older than that

	mu      sync.Mutex
	shelves map[policy.Segment]*shelf
}

const (
	// How long a base holds that does not say it itself, and how long a request
	// waits for one that was never read.
	baseLife = 10 * time.Minute
	baseWait = 5 * time.Second
)

// NewPublisher returns a publisher.
func NewPublisher(c Config) *Publisher {
	return &Publisher{Config: c, since: c.Now(), shelves: map[policy.Segment]*shelf{
		policy.Named:    newShelf(20_000, 256<<20),
		policy.Invented: newShelf(1000, 32<<20),
	}}
}

// baseKey marks the context of requests for a base.
type baseKey struct{}

// IsForBase reports whether a request asks for the base of a text, which the
// handlers behind have to answer.
func IsForBase(ctx context.Context) bool { return ctx.Value(baseKey{}) != nil }

// IsStaging reports whether the site of a request is for tests.
func (p *Publisher) IsStaging(r *http.Request) bool {
	return p.Staging != nil && p.Staging(nameOf(p.keyOf(r)))
}

// nameOf returns the host of a site without its port.
func nameOf(key policy.Key) string {
	name, _ := addr.CutPort(key.Host)
	return name
}

// Page returns the robots.txt for the site of a request, nil if what the handlers
// behind answer has to stand: while there is no base that can be read, and none
// that once could.
func (p *Publisher) Page(r *http.Request) *Page {
	key := p.keyOf(r)
	host := nameOf(key)
	if p.Staging != nil && p.Staging(host) {
		return p.page(policy.Named, pageKey{base: sha256.Sum256([]byte(Staging))}, func() made { return made{page: NewPage(Staging, p.since)} }).page
	}
	segment := key.Segment()
	if p.SourceKey != "" {
		key = policy.Key{Source: p.SourceKey}
	}
	if p.Source == nil {
		return p.composed(nil, segment, host).page
	}
	state := p.base(r, key)
	if state == nil || state.Good == nil {
		return nil
	}
	for _, version := range append([]*policy.Version{state.Good}, state.Past...) {
		if !isBase(version) {
			continue
		}
		if m := p.composed(version, segment, host); m.page != nil {
			return m.page
		}
	}
	return nil
}

// keyOf returns the site of a request.
func (p *Publisher) keyOf(r *http.Request) policy.Key {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return p.Sites.Of(server).Key(r)
}

// isBase reports whether a version can be built on: a web page in place of a
// robots.txt is a mistake.
func isBase(v *policy.Version) bool {
	findings, _ := v.Robots.Findings()
	return !slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML || f.Code == policy.UTF16 })
}

// base returns what is known of a base. One that is due is read in the background;
// a request waits only for the first.
func (p *Publisher) base(r *http.Request, key policy.Key) *policy.State {
	entry := p.Bases.Add(key, key.Segment())
	entry.Use(p.Now())
	if p.isFirst(key) && !isUsable(entry.State()) {
		entry.MakeDue() // who loads a configuration may have mended the base
	}
	if state := entry.State(); !entry.Due(p.Now()) {
		return state
	}
	asks := r.WithContext(context.WithValue(context.WithoutCancel(r.Context()), baseKey{}, true))
	fetch, ok := p.Source.Prepare(asks, key, origin.Witness{})
	if !ok {
		return entry.State()
	}
	var have *policy.Version
	if state := entry.State(); state != nil {
		have = state.Good
	}
	done := entry.Refresh(policy.Freshness{Default: baseLife, Min: time.Minute, Max: policy.MaxAge}, func() policy.Answer {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(baseWait, func() { cancel(origin.ErrFetchTimeout) })
		defer timer.Stop()
		return fetch(ctx, have)
	}, p.onRead(key))
	if entry.State() == nil && done != nil {
		select {
		case <-done:
		case <-time.After(baseWait):
		case <-r.Context().Done():
		}
	}
	return entry.State()
}

// isFirst reports whether this configuration looks at a base for the first time.
func (p *Publisher) isFirst(key policy.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.shelves[key.Segment()].asked
	if asked.Contains(key) {
		return false
	}
	asked.Add(key, struct{}{})
	return true
}

// isUsable reports whether what was read last can be built on.
func isUsable(s *policy.State) bool {
	return s != nil && s.Failures == 0 && s.Good != nil && isBase(s.Good)
}

// onRead returns what tells the owner that a base cannot be used any more, or
// again.
func (p *Publisher) onRead(key policy.Key) func(before, after policy.State) {
	return func(before, after policy.State) {
		log := p.Logger.With(zap.String("base", key.String()))
		known := before.Failures > 0 || before.Good != nil
		switch {
		case isUsable(&after) && known && !isUsable(&before):
			log.Info("the base of the robots.txt can be read again")
		case isUsable(&after), known && !isUsable(&before): // it was told before
		case after.Failures > 0:
			log.Warn("the base of the robots.txt cannot be read; "+inForce(after), zap.Error(after.Err))
		default:
			log.Warn("the base of the robots.txt is a web page or no text; " + inForce(after))
		}
	}
}

func inForce(s policy.State) string {
	if s.Good != nil && isBase(s.Good) || slices.ContainsFunc(s.Past, isBase) {
		return "the last good one is used"
	}
	return "what the site answers is passed on without the rules of robots_txt; if there is none to build on, write base none"
}

// composed returns the page of a base, nil for none.
func (p *Publisher) composed(base *policy.Version, segment policy.Segment, host string) made {
	var hash [sha256.Size]byte
	text, modified := []byte(nil), p.since
	if base != nil {
		hash = base.Hash
		text = []byte(base.Robots.Text())
		if base.FirstRead.After(modified) {
			modified = base.FirstRead
		}
	}
	if !p.Plan.hosts {
		host = ""
	}
	return p.page(segment, pageKey{hash, host}, func() made {
		composed, err := p.Plan.Compose(text, host)
		if err != nil {
			p.Logger.Error("the robots.txt is served as it was, without the rules of robots_txt", zap.String("host", host), zap.Error(err))
			return made{err: err}
		}
		return made{page: NewPage(string(composed), modified)}
	})
}

// page returns what is made of a base. Of those who ask at once for a new one
// a single one composes it; nobody waits for the texts of other sites.
func (p *Publisher) page(segment policy.Segment, key pageKey, compose func() made) made {
	p.mu.Lock()
	s := p.shelves[segment]
	if m, ok := s.pages.Get(key); ok {
		p.mu.Unlock()
		return m
	}
	making := s.making[key]
	if making == nil {
		making = sync.OnceValue(compose)
		s.making[key] = making
	}
	p.mu.Unlock()
	m := making()
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.making[key] != nil {
		delete(s.making, key)
		s.add(key, m)
	}
	return m
}
