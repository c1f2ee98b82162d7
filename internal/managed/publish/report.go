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
	if !p.hasBegun.Load() {
		return []report.ManagedChange{}
	}
	h, _ := p.History()
	all := h.report()
	for i := range all {
		if all[i].State == string(Published) {
			all[i].FetchedBy = p.FetchedBy()
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
		Number: c.Number, ID: c.ID, Origin: string(c.Origin), State: string(c.State), Since: c.Since, Until: c.TrialEnd,
		Author: c.Submitted.User, Reason: c.Submitted.Reason, Ticket: c.Submitted.Ticket, Reasons: c.Reasons, Difference: c.Difference, FetchedBy: c.FetchedBy,
	}
	if c.IsRejectedByTrial() {
		one.StopReason = c.EndedBy.Reason
	}
	for _, decision := range []struct {
		verb string
		by   *Decision
	}{{"confirmed", c.ConfirmedBy}, {"promoted", c.PromotedBy}, {strings.ReplaceAll(string(c.State), "_", " "), c.EndedBy}} {
		if decision.by != nil && decision.verb != string(Superseded) { // the next change has the name
			one.Decisions = append(one.Decisions, decision.verb+" by "+decision.by.String())
		}
	}
	return one
}

// String describes the deciding person or trial, and the reason.
func (b *Decision) String() string {
	words := b.User
	if b.Reason != "" {
		words += ": " + b.Reason
	}
	if b.Ticket != "" {
		words += " (" + b.Ticket + ")"
	}
	return words
}

// FetchedBy returns the crawlers that fetched the robots.txt since the published change was published.
func (p *Publisher) FetchedBy() []string {
	if state, _ := p.History(); state.Published != nil {
		return p.fetchedByDuring(state.Published)
	}
	return nil
}

// fetchedByDuring returns at most [MaxLines] crawlers that fetched the robots.txt since a change was
// published.
func (p *Publisher) fetchedByDuring(c *Change) []string {
	all := p.FetchedSince(p.place.hostMatcher(), c.PublishedAt)
	if more := len(all) - MaxLines; more > 0 {
		all = append(all[:MaxLines:MaxLines], fmt.Sprintf("%d more", more))
	}
	return all
}

// recordFetchers adds the crawlers that fetched a change to the replaced change.
func (p *Publisher) recordFetchers(before, after History) History {
	was := before.Published
	if was == nil || after.Published != nil && after.Published.Number == was.Number {
		return after
	}
	i := slices.IndexFunc(after.Past, func(c Change) bool { return c.Number == was.Number })
	if i >= 0 {
		after.Past = slices.Clone(after.Past)
		after.Past[i].FetchedBy = p.fetchedByDuring(was)
	}
	return after
}

// RunningPublishers is the list of publishers of the running configurations. The zero value is empty.
type RunningPublishers struct {
	mu         sync.Mutex
	publishers []*Publisher // in the order of Add
}

// Add adds a publisher until remove is called.
func (r *RunningPublishers) Add(p *Publisher) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.publishers = append(r.publishers, p)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.publishers = slices.DeleteFunc(r.publishers, func(other *Publisher) bool { return other == p })
	}
}

// NextChange returns the time of the next change of a file of any site, or the zero time.
func (r *RunningPublishers) NextChange(now time.Time) (next time.Time) {
	for _, p := range r.servingPublishers() {
		if turn := p.servedRules.Load().nextChange(now); next.IsZero() || !turn.IsZero() && turn.Before(next) {
			next = turn
		}
	}
	return next
}

// servingPublishers returns the serving publishers, the latest first. After a reload the latest takes over.
func (r *RunningPublishers) servingPublishers() (all []*Publisher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range slices.Backward(r.publishers) {
		if p.servedRules.Load() != nil {
			all = append(all, p)
		}
	}
	return all
}

// Sites implements [report.ManagedFiles].
func (r *RunningPublishers) Sites(now time.Time) []report.ManagedSite {
	all := make(map[string]report.ManagedSite)
	for _, p := range r.servingPublishers() {
		for host, key := range p.reportedHosts() {
			if _, known := all[host]; !known {
				all[host] = p.hostReport(host, key, now).summary()
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b report.ManagedSite) int { return cmp.Compare(a.Host, b.Host) })
}

// Site implements [report.ManagedFiles].
func (r *RunningPublishers) Site(host string, now time.Time) (report.ManagedDetail, bool) {
	for _, p := range r.servingPublishers() {
		if key, ok := p.reportedHosts()[host]; ok {
			return p.hostReport(host, key, now).detail(), true
		}
	}
	return report.ManagedDetail{}, false
}

// reportedHosts returns the hosts in the configuration and the requested named sites, with their keys.
func (p *Publisher) reportedHosts() map[string]policy.Key {
	hosts := make(map[string]policy.Key)
	for _, host := range p.SiteHosts {
		hosts[strings.ToLower(host)] = policy.Key{}
	}
	if len(hosts) == 0 {
		hosts[""] = policy.Key{}
	}
	for _, key := range p.pageCaches[policy.ConfiguredHosts].sites() {
		hosts[siteHost(key)] = key
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
	l.rules = p.servedRules.Load()
	l.period = l.rules.hostPeriod(key, now)
	cache := p.pageCaches[key.Segment()]
	if p.Source != nil {
		if l.wasRequested {
			l.page, _ = cache.lastPage(key)
		}
		if entry := p.Bases.Get(p.baseKey(key)); entry != nil {
			l.baseState = entry.State()
			l.base = lastGoodVersion(l.baseState)
		}
	}
	if !l.period.staging && (l.base != nil || p.Source == nil) {
		m, _ := cache.getOrCompose(l.base, l.period)
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

// summary returns a summary of the host.
func (l *hostReport) summary() report.ManagedSite {
	s := report.ManagedSite{Host: l.host, Base: l.baseReport(), NextChange: l.period.period.End(), Staging: l.period.staging, RulesInForce: l.period.period.NumRulesInForce()}
	if l.page != nil && !s.Staging {
		s.Version, s.Since = l.page.version(), l.page.modified
	}
	if e := l.rules; e.isCanaryAt(l.host) {
		s.Trial = &report.ManagedTrial{Change: e.onTrial.ID, Until: e.onTrial.TrialEnd}
	}
	if l.Lists != nil {
		s.Lists = l.Lists()
	}
	if l.err != nil {
		s.Refused = &report.ManagedRefusal{Since: l.refusedSince(), Reason: l.err.Error()}
	}
	return s
}

// detail returns the details of the host.
func (l *hostReport) detail() report.ManagedDetail {
	d := report.ManagedDetail{
		ManagedSite: l.summary(), Lines: []report.ManagedLine{}, Rules: l.period.period.RuleReports(managed.ExampleHost(l.host), l.now), ScheduledChanges: []report.ScheduledChange{}, Findings: []report.ManagedFinding{}, Changes: l.Report(),
	}
	if d.Staging {
		d.Text = managed.Staging
		return d
	}
	d.ScheduledChanges = l.period.period.ChangesAt(l.baseText(), managed.ExampleHost(l.host), l.now)
	if l.page == nil {
		return d
	}
	d.Text = l.page.text
	plan := l.period.period.FilePlan()
	d.Lines = plan.Lines(d.Text, managed.ExampleHost(l.host))
	d.Findings = plan.FindingReports(l.baseText(), []byte(d.Text), managed.ExampleHost(l.host))
	return d
}

// refusedSince returns the start of the refused file.
func (l *hostReport) refusedSince() time.Time {
	since := laterTime(l.period.scheduleStart, l.period.period.Start())
	if l.base != nil {
		since = laterTime(since, l.base.FirstFetched)
	}
	return since
}

func (l *hostReport) baseReport() (b report.ManagedBase) {
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
		b.FetchedAt, b.Status = good.LastFetched, good.Status
	}
	if l.baseState.FailureCount > 0 {
		b.FailingSince, b.Failure = l.baseState.FailingSince, report.DescribeFetchProblem(l.baseState)
	}
	return b
}

// Interface guard
var _ report.ManagedFiles = (*RunningPublishers)(nil)
