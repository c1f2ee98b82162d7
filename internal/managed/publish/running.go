package publish

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Running is the list of publishers of the running configurations. The zero value is empty.
type Running struct {
	mu  sync.Mutex
	all []*Publisher // in the order of Add
}

// Add adds a publisher until remove is called.
func (r *Running) Add(p *Publisher) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = slices.DeleteFunc(r.all, func(other *Publisher) bool { return other == p })
	}
}

// Next returns the time of the next change of a file of any site, or the zero time.
func (r *Running) Next(now time.Time) (next time.Time) {
	for _, p := range r.publishers() {
		if turn := p.serving.Load().next(now); next.IsZero() || !turn.IsZero() && turn.Before(next) {
			next = turn
		}
	}
	return next
}

// publishers returns the publishers that serve, the latest first. After a reload the latest takes
// over.
func (r *Running) publishers() (all []*Publisher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range slices.Backward(r.all) {
		if p.serving.Load() != nil {
			all = append(all, p)
		}
	}
	return all
}

// Sites implements [report.Texts].
func (r *Running) Sites(now time.Time) []report.ManagedSite {
	all := make(map[string]report.ManagedSite)
	for _, p := range r.publishers() {
		for host, key := range p.hosts() {
			if _, known := all[host]; !known {
				all[host] = p.lookAt(host, key, now).site()
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b report.ManagedSite) int { return cmp.Compare(a.Host, b.Host) })
}

// Site implements [report.Texts].
func (r *Running) Site(host string, now time.Time) (report.ManagedDetail, bool) {
	for _, p := range r.publishers() {
		if key, ok := p.hosts()[host]; ok {
			return p.lookAt(host, key, now).detail(), true
		}
	}
	return report.ManagedDetail{}, false
}

// hosts returns the hosts in the configuration and the requested named sites, with their keys.
func (p *Publisher) hosts() map[string]policy.Key {
	hosts := make(map[string]policy.Key)
	for _, host := range p.SiteHosts {
		hosts[strings.ToLower(host)] = policy.Key{}
	}
	if len(hosts) == 0 {
		hosts[""] = policy.Key{}
	}
	p.pages.mu.Lock()
	defer p.pages.mu.Unlock()
	for _, key := range p.shelves[policy.Named].asked.Keys() {
		if key.Source == "" {
			hosts[nameOf(key)] = key
		}
	}
	return hosts
}

// look is the data of a report about a host.
type look struct {
	*Publisher
	host  string
	asked bool
	at    spot
	from  *edition
	now   time.Time
	page  *Page // nil if none
	state *policy.State
	under *policy.Version // the last good base, or nil
	err   error           // reason why the present file is refused
}

func (p *Publisher) lookAt(host string, key policy.Key, now time.Time) *look {
	l := &look{Publisher: p, host: host, now: now, asked: key != policy.Key{}}
	if !l.asked {
		key.Host, key.Site = managed.SomeHost(host), host
	}
	l.from = p.serving.Load()
	l.at = l.from.spotOf(key, now)
	if p.Source == nil {
		l.at.quiet = true // for a report
		m := p.composed(nil, l.at)
		l.page, l.err = m.page, m.err
		return l
	}
	if l.asked {
		p.pages.mu.Lock()
		l.page, _ = p.shelves[key.Segment()].asked.Peek(key)
		p.pages.mu.Unlock()
	}
	if entry := p.Bases.Get(p.whereBase(key)); entry != nil {
		l.state = entry.State()
		l.under = goodOf(l.state)
	}
	if l.under != nil {
		l.at.quiet = true
		m := p.composed(l.under, l.at)
		if l.err = m.err; m.page != nil {
			l.page = m.page
		}
	}
	return l
}

// base returns the last good base, or nil.
func (l *look) base() []byte {
	if l.under == nil {
		return nil
	}
	return []byte(l.under.Robots.Text())
}

// site returns a summary of the host.
func (l *look) site() report.ManagedSite {
	s := report.ManagedSite{Host: l.host, Base: l.baseView(), Next: l.at.period.End(), Staging: l.at.staging, InForce: l.at.period.InForce()}
	if l.page != nil && !s.Staging {
		s.Version, s.Since = l.page.version(), l.page.modified
	}
	if e := l.from; e.canary != nil && e.hosts.Has(l.host) {
		s.Trial = &report.ManagedTrial{Change: e.canary.ID, Until: e.canary.Until}
	}
	if l.Lists != nil {
		s.Lists = l.Lists()
	}
	if l.err != nil {
		s.Refused = &report.ManagedRefusal{Since: l.refusedSince(), Why: l.err.Error()}
	}
	return s
}

// detail returns the details of the host.
func (l *look) detail() report.ManagedDetail {
	d := report.ManagedDetail{
		ManagedSite: l.site(), Lines: []report.ManagedLine{}, Rules: l.at.period.Rules(managed.SomeHost(l.host), l.now), Turns: []report.ManagedTurn{}, Found: []report.ManagedFound{}, Changes: l.Report(),
	}
	if d.Staging {
		d.Text = managed.Staging
		return d
	}
	d.Turns = l.at.period.Turns(l.base(), managed.SomeHost(l.host), l.now)
	if l.page == nil {
		return d
	}
	d.Text = l.page.text
	plan := l.at.period.Plan()
	d.Lines = plan.Lines(d.Text, managed.SomeHost(l.host))
	d.Found = plan.Findings(l.base(), []byte(d.Text), managed.SomeHost(l.host))
	return d
}

// refusedSince returns the start of the refused file.
func (l *look) refusedSince() time.Time {
	since := latest(l.at.since, l.at.period.Start())
	if l.under != nil {
		since = latest(since, l.under.FirstRead)
	}
	return since
}

func (l *look) baseView() (b report.ManagedBase) {
	switch {
	case l.Source == nil:
		b.Kind = "none"
	case l.SourceKey != "":
		b.Kind, b.File = "file", l.SourceKey
	default:
		b.Kind = "upstream"
	}
	if l.state == nil {
		return b
	}
	if good := l.state.Good; good != nil {
		b.Read, b.Status = good.LastRead, good.Status
	}
	if l.state.Failures > 0 {
		b.FailingSince, b.Failure = l.state.FailingSince, report.Trouble(l.state)
	}
	return b
}

// Interface guard
var _ report.Texts = (*Running)(nil)
