package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxReported is the maximum number of past changes in a report.
const maxReported = 20

// Report returns the pending change, the published change, and the latest past changes.
func (p *Publisher) Report() []report.ManagedChange {
	if !p.begun.Load() {
		return []report.ManagedChange{}
	}
	h, _ := p.History()
	all := h.report()
	for i := range all {
		if all[i].State == string(Published) {
			all[i].ReadBy = p.ReadBy()
		}
	}
	return all
}

// report returns the changes in the order of [Publisher.Report].
func (h *History) report() []report.ManagedChange {
	all := []report.ManagedChange{}
	for _, c := range []*Change{h.Pending, h.Published} {
		if c != nil {
			all = append(all, c.report())
		}
	}
	for i := range h.Past[:min(len(h.Past), maxReported)] {
		all = append(all, h.Past[i].report())
	}
	return all
}

// report returns a change for a report.
func (c *Change) report() report.ManagedChange {
	one := report.ManagedChange{
		Number: c.Number, ID: c.ID, Origin: string(c.Origin), State: string(c.State), Since: c.Since, Until: c.Until,
		Who: c.Made.Who, Why: c.Made.Why, Ticket: c.Made.Ticket, Reasons: c.Reasons, Difference: c.Difference, ReadBy: c.ReadBy,
	}
	if c.IsRejectedByTrial() {
		one.Stopped = c.Ended.Why
	}
	for _, decision := range []struct {
		verb string
		by   *By
	}{{"confirmed", c.Confirmed}, {"promoted", c.Promoted}, {strings.ReplaceAll(string(c.State), "_", " "), c.Ended}} {
		if decision.by != nil && decision.verb != string(Superseded) { // the next change has the name
			one.Decided = append(one.Decided, decision.verb+" by "+decision.by.String())
		}
	}
	return one
}

// String describes the deciding person or trial, and the reason.
func (b *By) String() string {
	words := b.Who
	if b.Why != "" {
		words += ": " + b.Why
	}
	if b.Ticket != "" {
		words += " (" + b.Ticket + ")"
	}
	return words
}

// ReadBy returns the crawlers that fetched the robots.txt since the published change was published.
func (p *Publisher) ReadBy() []string {
	if state, _ := p.History(); state.Published != nil {
		return p.readersOf(state.Published)
	}
	return nil
}

// readersOf returns at most [MaxLines] crawlers that fetched the robots.txt since a change was
// published.
func (p *Publisher) readersOf(c *Change) []string {
	all := p.ReadSince(p.place.has(), c.Published)
	if more := len(all) - MaxLines; more > 0 {
		all = append(all[:MaxLines:MaxLines], fmt.Sprintf("%d more", more))
	}
	return all
}

// recordReaders adds the crawlers that fetched a change to the replaced change.
func (p *Publisher) recordReaders(before, after History) History {
	was := before.Published
	if was == nil || after.Published != nil && after.Published.Number == was.Number {
		return after
	}
	i := slices.IndexFunc(after.Past, func(c Change) bool { return c.Number == was.Number })
	if i >= 0 {
		after.Past = slices.Clone(after.Past)
		after.Past[i].ReadBy = p.readersOf(was)
	}
	return after
}

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

// publishers returns the serving publishers, the latest first. After a reload the latest takes over.
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

// Sites implements [report.ManagedFiles].
func (r *Running) Sites(now time.Time) []report.ManagedSite {
	all := make(map[string]report.ManagedSite)
	for _, p := range r.publishers() {
		for host, key := range p.hosts() {
			if _, known := all[host]; !known {
				all[host] = p.hostReport(host, key, now).site()
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b report.ManagedSite) int { return cmp.Compare(a.Host, b.Host) })
}

// Site implements [report.ManagedFiles].
func (r *Running) Site(host string, now time.Time) (report.ManagedDetail, bool) {
	for _, p := range r.publishers() {
		if key, ok := p.hosts()[host]; ok {
			return p.hostReport(host, key, now).detail(), true
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
	for _, key := range p.caches[policy.ConfiguredHosts].sites() {
		hosts[nameOf(key)] = key
	}
	return hosts
}

// hostReport is the data of a report about a host.
type hostReport struct {
	*Publisher
	host         string
	wasRequested bool
	period       hostPeriod
	rules        *servedRules
	now          time.Time
	page         *Page // nil if none
	baseState    *policy.State
	base         *policy.Version // the last good base, or nil
	err          error           // reason why the present file is refused
}

func (p *Publisher) hostReport(host string, key policy.Key, now time.Time) *hostReport {
	l := &hostReport{Publisher: p, host: host, now: now, wasRequested: key != policy.Key{}}
	if !l.wasRequested {
		key.Host, key.Site = managed.ExampleHost(host), host
	}
	l.rules = p.serving.Load()
	l.period = l.rules.hostPeriod(key, now)
	cache := p.caches[key.Segment()]
	if p.Source != nil {
		if l.wasRequested {
			l.page, _ = cache.lastPage(key)
		}
		if entry := p.Bases.Get(p.baseKey(key)); entry != nil {
			l.baseState = entry.State()
			l.base = goodOf(l.baseState)
		}
	}
	if !l.period.staging && (l.base != nil || p.Source == nil) {
		m, _ := cache.get(l.base, l.period)
		if l.err = m.err; m.page != nil {
			l.page = m.page
		}
	}
	return l
}

// baseText returns the last good base, or nil.
func (l *hostReport) baseText() []byte {
	if l.base == nil {
		return nil
	}
	return []byte(l.base.Robots.Text())
}

// site returns a summary of the host.
func (l *hostReport) site() report.ManagedSite {
	s := report.ManagedSite{Host: l.host, Base: l.baseView(), Next: l.period.period.End(), Staging: l.period.staging, InForce: l.period.period.InForce()}
	if l.page != nil && !s.Staging {
		s.Version, s.Since = l.page.version(), l.page.modified
	}
	if e := l.rules; e.isCanaryAt(l.host) {
		s.Trial = &report.ManagedTrial{Change: e.onTrial.ID, Until: e.onTrial.Until}
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
func (l *hostReport) detail() report.ManagedDetail {
	d := report.ManagedDetail{
		ManagedSite: l.site(), Lines: []report.ManagedLine{}, Rules: l.period.period.Rules(managed.ExampleHost(l.host), l.now), Turns: []report.ManagedTurn{}, Found: []report.ManagedFound{}, Changes: l.Report(),
	}
	if d.Staging {
		d.Text = managed.Staging
		return d
	}
	d.Turns = l.period.period.Turns(l.baseText(), managed.ExampleHost(l.host), l.now)
	if l.page == nil {
		return d
	}
	d.Text = l.page.text
	plan := l.period.period.FilePlan()
	d.Lines = plan.Lines(d.Text, managed.ExampleHost(l.host))
	d.Found = plan.Findings(l.baseText(), []byte(d.Text), managed.ExampleHost(l.host))
	return d
}

// refusedSince returns the start of the refused file.
func (l *hostReport) refusedSince() time.Time {
	since := latest(l.period.since, l.period.period.Start())
	if l.base != nil {
		since = latest(since, l.base.FirstFetched)
	}
	return since
}

func (l *hostReport) baseView() (b report.ManagedBase) {
	switch {
	case l.Source == nil:
		b.Kind = "none"
	case l.SourceKey != "":
		b.Kind, b.File = "file", l.SourceKey
	default:
		b.Kind = "upstream"
	}
	if l.baseState == nil {
		return b
	}
	if good := l.baseState.Current; good != nil {
		b.Read, b.Status = good.LastFetched, good.Status
	}
	if l.baseState.Failures > 0 {
		b.FailingSince, b.Failure = l.baseState.FailingSince, report.FetchProblem(l.baseState)
	}
	return b
}

// Interface guard
var _ report.ManagedFiles = (*Running)(nil)
