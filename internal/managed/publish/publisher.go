package publish

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PublisherConfig is what a Publisher goes by.
type PublisherConfig struct {
	// Schedule is served first; see [Publisher.Serve]. Where it is nil requests wait up
	// to two seconds for one, and then have what Otherwise returns.
	Schedule  *managed.Schedule
	Otherwise func() *managed.Schedule
	Stages    bool // whether that may have staging, for which all requests wait
	Gate      managed.Gate
	// Source is where the base comes from, nil for none. SourceKey is its path, ""
	// for what the handlers behind answer.
	Source    origin.Source
	SourceKey string
	Sites     *request.Sites
	Bases     *policy.Cache // outlives a configuration, so that a last good base does
	// Stored is closed once it is known which bases are stored, nil if none are.
	Stored <-chan struct{}
	Now    func() time.Time
	Logger *zap.Logger
	// Hosts are those that the configuration names, none for any.
	Hosts []string
	// Changes and Lists are for reports; nil for none.
	Changes func() []report.ManagedChange
	Lists   func() []report.ManagedList
	// Observer may be nil.
	Observer FileObserver
}

// Publisher has the texts of all hosts that a configuration is for. Texts that are
// the same are kept once.
type Publisher struct {
	PublisherConfig
	since time.Time // the texts are not older than that

	serving   atomic.Pointer[edition] // nil while there is none
	otherwise func() *managed.Schedule
	begun     chan struct{} // closed once something is served
	beginOnce sync.Once

	mu      sync.Mutex
	shelves map[policy.Segment]*shelf
}

// NewPublisher returns a publisher.
func NewPublisher(c PublisherConfig) *Publisher {
	if c.Observer == nil {
		c.Observer = nobody{}
	}
	p := &Publisher{PublisherConfig: c, since: c.Now(), otherwise: otherwiseOf(c), begun: make(chan struct{}), shelves: map[policy.Segment]*shelf{
		policy.Named:    newShelf(40_000, 256<<20),
		policy.Invented: newShelf(1000, 32<<20),
	}}
	if c.Schedule != nil {
		p.put(&edition{all: version{c.Schedule, p.since}}, false)
	}
	return p
}

// forBase marks the context of requests for a base.
type forBase struct{}

// IsForBase reports whether a request asks for the base of a text, which the
// handlers behind have to answer.
func IsForBase(ctx context.Context) bool { return ctx.Value(forBase{}) != nil }

// IsStaging reports whether the site of a request is for tests.
func (p *Publisher) IsStaging(r *http.Request) bool {
	e := p.serving.Load()
	if e == nil && p.Stages {
		e = p.edition(r.Context())
	}
	if e == nil || !e.all.schedule.HasStaging() && (e.canary == nil || !e.trial.schedule.HasStaging()) {
		return false
	}
	host := nameOf(p.keyOf(r))
	return e.at(host).schedule.IsStaging(host)
}

// nameOf returns the host of a site without its port.
func nameOf(key policy.Key) string {
	name, _ := addr.CutPort(key.Host)
	return name
}

// spot is where and when a page is for.
type spot struct {
	segment policy.Segment
	host    string
	period  managed.Period
	since   time.Time // when its schedule came
	staging bool
	quiet   bool // no request asks for it
}

// Page returns the robots.txt for the site of a request, and when another takes its
// place, zero for never as far as the schedule goes. It is nil if what the handlers
// behind answer has to stand: while there is no base that can be read, and none
// that once could.
func (p *Publisher) Page(r *http.Request) (page *Page, until time.Time) {
	key := p.keyOf(r)
	at := p.edition(r.Context()).spotOf(key, p.Now())
	if at.staging {
		of := pageKey{base: sha256.Sum256([]byte(managed.Staging)), since: at.since.UnixNano()}
		return p.page(policy.Named, of, func() made { return made{page: newPage(managed.Staging, at.since)} }).page, time.Time{}
	}
	last, first := p.meet(key)
	if p.Source == nil {
		page = p.inTurn(nil, at, last)
	} else {
		base := p.whereBase(key)
		if base != key {
			_, first = p.meet(base)
		}
		page = p.best(p.base(r, base, first), at, last)
	}
	if page != last {
		p.remember(key, page)
	}
	return page, at.period.End()
}

func (p *Publisher) meet(key policy.Key) (last *Page, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shelves[key.Segment()].meet(key)
}

// remember keeps what a site is served now.
func (p *Publisher) remember(site policy.Key, page *Page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shelves[site.Segment()].asked.Add(site, page)
}

// whereBase returns where the base of a site is kept.
func (p *Publisher) whereBase(site policy.Key) policy.Key {
	if p.SourceKey != "" {
		return policy.Key{Source: p.SourceKey}
	}
	return site
}

// best returns the page of the latest version that a page can be made of, nil if
// there is none.
func (p *Publisher) best(state *policy.State, at spot, last *Page) *Page {
	if goodOf(state) == nil {
		return nil
	}
	if page := p.inTurn(state.Good, at, last); page != nil {
		return page
	}
	for _, version := range state.Past {
		if page := p.inTurn(version, at, nil); page != nil {
			return page
		}
	}
	return nil
}

// inTurn returns the page of a base, or where there can be none what stays in its
// place: what was served last, or what the base came to before the turn.
func (p *Publisher) inTurn(base *policy.Version, at spot, last *Page) *Page {
	m := p.composed(base, at)
	switch {
	case m.page != nil:
		return m.page
	case last != nil:
		return last
	}
	before, ok := at.period.Before()
	if !ok {
		return nil
	}
	at.period = before
	return p.composed(base, at).page
}

// keyOf returns the site of a request.
func (p *Publisher) keyOf(r *http.Request) policy.Key {
	return p.Sites.Of(serverOf(r)).Key(r)
}

// composed returns the page of a base, nil for none.
func (p *Publisher) composed(base *policy.Version, at spot) made {
	of := pageKey{period: at.period, since: at.since.UnixNano()}
	if base != nil {
		of.base = base.Hash
	}
	if at.period.DependsOnHost() {
		of.host = at.host
	}
	m, ok := p.kept(at.segment, of)
	if !at.quiet {
		p.Observer.TextAsked(ok)
	}
	if ok {
		return m
	}
	return p.page(at.segment, of, func() made { return p.compose(base, at) })
}

func (p *Publisher) kept(segment policy.Segment, of pageKey) (made, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shelves[segment].pages.Get(of)
}

func (p *Publisher) compose(base *policy.Version, at spot) made {
	var text []byte
	modified, start := at.since, at.period.Start()
	if base != nil {
		text = []byte(base.Robots.Text())
		modified = latest(modified, base.FirstRead)
	}
	began, stage := time.Now(), StageCompose
	plan := at.period.Plan()
	composed, err := plan.Compose(text, at.host)
	if err == nil {
		stage, err = StageGate, p.Gate.Check(plan, text, composed, at.host)
	}
	p.Observer.Composed(time.Since(began))
	if err != nil {
		p.Observer.TextFailed(stage)
		p.Logger.Log(levelFor(at.segment, zap.ErrorLevel), "a text of robots_txt is refused; the text before stays, or where there is none what the site answers",
			zap.String("host", at.host), zap.Time("from", start), zap.Error(err))
		return made{err: err}
	}
	return made{page: newPage(string(composed), latest(modified, start))}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
