package publish

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// pages caches the served files of all hosts. Equal files share memory.
type pages struct {
	since     time.Time // minimum date of a file
	serving   atomic.Pointer[servedRules]
	ready     chan struct{} // closed once serving is set
	readyOnce sync.Once
	fallback  func() *managed.Schedule // schedule for a request before serving is set
	caches    map[policy.Segment]*pageCache
}

func newPages(since time.Time, fallback func() *managed.Schedule, compose func(*policy.Version, hostPeriod) pageResult) pages {
	return pages{since: since, fallback: sync.OnceValue(fallback), ready: make(chan struct{}), caches: map[policy.Segment]*pageCache{
		policy.ConfiguredHosts: newPageCache(40_000, 256<<20, compose),
		policy.UnknownHosts:    newPageCache(1000, 32<<20, compose),
	}}
}

// forBase marks the context of a request for a base.
type forBase struct{}

// IsForBase reports whether a request fetches a base. The next handler has to answer such a request.
func IsForBase(ctx context.Context) bool { return ctx.Value(forBase{}) != nil }

// IsStaging reports whether the site of a request is a staging site.
func (p *Publisher) IsStaging(r *http.Request) bool {
	e := p.serving.Load()
	if e == nil && p.Schedule.HasStaging() {
		e = p.awaitServedRules(r.Context())
	}
	if e == nil || !e.published.schedule.HasStaging() && (e.canary == nil || !e.canaryRules.schedule.HasStaging()) {
		return false
	}
	host := nameOf(p.keyOf(r))
	return e.at(host).schedule.IsStaging(host)
}

// nameOf returns the host of a site without its port.
func nameOf(key policy.Key) string {
	name, _ := addr.SplitPort(key.Host)
	return name
}

// hostPeriod identifies a file by its host and period.
type hostPeriod struct {
	segment   policy.Segment
	host      string
	period    managed.Period
	since     time.Time // start of the schedule
	staging   bool
	forReport bool // the lookup is for a report, not for a client
}

// Page returns the robots.txt for the site of a request. until is the time of the next scheduled
// change, or the zero time. page is nil if there is no good base, and the next handler has to answer.
func (p *Publisher) Page(r *http.Request) (page *Page, until time.Time) {
	key := p.keyOf(r)
	at := p.awaitServedRules(r.Context()).hostPeriod(key, p.Now())
	if at.staging {
		m, _ := p.caches[policy.ConfiguredHosts].get(nil, at)
		return m.page, time.Time{}
	}
	cache := p.caches[key.Segment()]
	last, first := cache.lastPage(key)
	if p.Source == nil {
		page = p.pageOfBase(nil, at, last)
	} else {
		base := p.baseKey(key)
		if base != key {
			_, first = p.caches[base.Segment()].lastPage(base)
		}
		page = p.pageOfState(p.base(r, base, first), at, last)
	}
	if page != last {
		cache.setLastPage(key, page)
	}
	return page, at.period.End()
}

// baseKey returns the key of the base of a site.
func (p *Publisher) baseKey(site policy.Key) policy.Key {
	if p.SourceKey != "" {
		return policy.Key{Source: p.SourceKey}
	}
	return site
}

// pageOfState returns the page of the latest good base that yields a page, or nil.
func (p *Publisher) pageOfState(state *policy.State, at hostPeriod, last *Page) *Page {
	if goodOf(state) == nil {
		return nil
	}
	if page := p.pageOfBase(state.Current, at, last); page != nil {
		return page
	}
	for _, version := range state.Previous {
		if page := p.pageOfBase(version, at, nil); page != nil {
			return page
		}
	}
	return nil
}

// pageOfBase returns the page of a base. If the gate refuses the page, it returns the last served page or
// the page of the previous period.
func (p *Publisher) pageOfBase(base *policy.Version, at hostPeriod, last *Page) *Page {
	m := p.cachedOrComposed(base, at)
	switch {
	case m.page != nil:
		return m.page
	case last != nil:
		return last
	}
	before, ok := at.period.Previous()
	if !ok {
		return nil
	}
	at.period = before
	return p.cachedOrComposed(base, at).page
}

// keyOf returns the site of a request.
func (p *Publisher) keyOf(r *http.Request) policy.Key {
	return p.RequestSites.Of(serverOf(r)).Key(r)
}

// cachedOrComposed returns the cached page of a base, or composes it.
func (p *Publisher) cachedOrComposed(base *policy.Version, at hostPeriod) pageResult {
	m, isCached := p.caches[at.segment].get(base, at)
	if !at.forReport {
		p.Observer.PageRequested(isCached)
	}
	return m
}

func (p *Publisher) compose(base *policy.Version, at hostPeriod) pageResult {
	if at.staging {
		return pageResult{page: newPage(managed.Staging, at.since)}
	}
	var text []byte
	modified, start := at.since, at.period.Start()
	if base != nil {
		text = []byte(base.Robots.Text())
		modified = latest(modified, base.FirstFetched)
	}
	began, stage := time.Now(), StageCompose
	plan := at.period.Plan()
	composed, err := plan.Compose(text, at.host)
	if err == nil {
		stage, err = StageGate, p.Gate.Check(plan, text, composed, at.host)
	}
	p.Observer.Composed(time.Since(began))
	if err != nil {
		p.Observer.PageFailed(stage)
		p.Logger.Log(levelFor(at.segment, zap.ErrorLevel), "a robots.txt is refused; the previous file stays, or else the response of the site",
			zap.String("host", at.host), zap.Time("from", start), zap.Error(err))
		return pageResult{err: err}
	}
	return pageResult{page: newPage(string(composed), latest(modified, start))}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
