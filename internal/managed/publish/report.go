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

// Report returns the pending change, the published change, and the latest past changes of the site.
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

// report returns the pending change, the published change, and the latest past changes.
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

// report returns the change for a report.
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
		if decision.by != nil && decision.verb != string(Superseded) { // The next change has the name.
			one.Decisions = append(one.Decisions, decision.verb+" by "+decision.by.String())
		}
	}
	return one
}

// String returns who decided, the reason and the ticket.
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

// FetchedBy returns the crawlers that have fetched the robots.txt since the present change was
// published.
func (p *Publisher) FetchedBy() []string {
	if state, _ := p.History(); state.Published != nil {
		return p.fetchersSincePublication(state.Published)
	}
	return nil
}

// fetchersSincePublication returns the crawlers that have fetched the robots.txt since c was published. At
// most [MaxLines] are named, the others are counted.
func (p *Publisher) fetchersSincePublication(c *Change) []string {
	all := p.FetchedSince(p.place.hostMatcher(), c.PublishedAt)
	if more := len(all) - MaxLines; more > 0 {
		all = append(all[:MaxLines:MaxLines], fmt.Sprintf("%d more", more))
	}
	return all
}

// recordFetchers sets FetchedBy of the change that after no longer publishes. before is the history
// before the step.
func (p *Publisher) recordFetchers(before, after History) History {
	was := before.Published
	if was == nil || after.Published != nil && after.Published.Number == was.Number {
		return after
	}
	i := slices.IndexFunc(after.Past, func(c Change) bool { return c.Number == was.Number })
	if i >= 0 {
		after.Past = slices.Clone(after.Past)
		after.Past[i].FetchedBy = p.fetchersSincePublication(was)
	}
	return after
}

// RunningPublishers has the publishers of the running configurations. The zero value is empty.
type RunningPublishers struct {
	mu         sync.Mutex
	publishers []*Publisher // The publishers are in the order of Add.
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

// NextChange returns the first time after now at which a served file of any site changes by its
// schedule, or the zero time.
func (r *RunningPublishers) NextChange(now time.Time) (next time.Time) {
	for _, p := range r.servingPublishers() {
		if turn := p.servedRules.Load().nextChange(now); next.IsZero() || !turn.IsZero() && turn.Before(next) {
			next = turn
		}
	}
	return next
}

// servingPublishers returns the publishers that serve rules, the latest first. After a reload, the
// latest serves the requests.
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

// reportedHosts returns the hosts to report: those in the configuration, and those of configured
// sites that were requested. The keys are zero for hosts that were not requested.
func (p *Publisher) reportedHosts() map[string]policy.Key {
	hosts := make(map[string]policy.Key)
	for _, host := range p.SiteHosts {
		hosts[strings.ToLower(host)] = policy.Key{}
	}
	if len(hosts) == 0 {
		hosts[""] = policy.Key{}
	}
	for _, key := range p.pageCaches[policy.ConfiguredHosts].requestedSites() {
		hosts[siteHost(key)] = key
	}
	return hosts
}

// hostReport has the data for a report about a host.
type hostReport struct {
	*Publisher
	host         string
	wasRequested bool
	period       hostPeriod
	rules        *servedRules
	now          time.Time
	page         *Page // page is nil if no page can be served.
	baseState    *policy.State
	base         *policy.Version // base is the last good base, or nil.
	err          error           // err is the reason for which the present file is refused.
}

// hostReport collects the data for a report about a host. key is the site of the host, or zero if
// it was not requested.
func (p *Publisher) hostReport(host string, key policy.Key, now time.Time) *hostReport {
	l := &hostReport{Publisher: p, host: host, now: now, wasRequested: key != policy.Key{}}
	if !l.wasRequested {
		key.Host, key.Site = managed.ExampleHost(host), host
	}
	l.rules = p.servedRules.Load()
	l.period = l.rules.findHostPeriod(key, now)
	if !l.wasRequested {
		// Rules can name the example host, so the period is looked up by the wildcard itself.
		l.period = l.rules.findHostPeriod(policy.Key{Host: host, Site: host}, now)
		l.period.host = key.Host
	}
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
		var page *Page
		page, _, l.err = cache.getOrCompose(l.base, l.period)
		l.page = cmp.Or(page, l.page)
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

// summary returns the short report about the host.
func (l *hostReport) summary() report.ManagedSite {
	s := report.ManagedSite{Host: l.host, Base: l.baseReport(), NextChange: l.period.period.End(), Staging: l.period.staging, RulesInForce: l.period.period.NumRulesInForce()}
	if l.page != nil && !s.Staging {
		s.Version, s.Since = l.page.version(), l.page.modified
	}
	if e := l.rules; e.isCanaryHost(l.host) {
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

// detail returns the full report about the host.
func (l *hostReport) detail() report.ManagedDetail {
	d := report.ManagedDetail{
		ManagedSite: l.summary(), Lines: []report.ManagedLine{}, Rules: l.period.period.RuleReports(managed.ExampleHost(l.host), l.now), ScheduledChanges: []report.ScheduledChange{}, Findings: []report.ManagedFinding{}, Changes: l.Report(),
	}
	if d.Staging {
		d.Text = managed.Staging
		return d
	}
	d.ScheduledChanges = l.period.period.FutureChanges(l.baseText(), managed.ExampleHost(l.host), l.now)
	if l.page == nil {
		return d
	}
	d.Text = l.page.text
	plan := l.period.period.FilePlan()
	d.Lines = plan.AddedLines(d.Text, managed.ExampleHost(l.host))
	d.Findings = plan.FindingReports(l.baseText(), []byte(d.Text), managed.ExampleHost(l.host))
	return d
}

// refusedSince returns the time from which the refused file would have been served.
func (l *hostReport) refusedSince() time.Time {
	since := laterTime(l.period.scheduleStart, l.period.period.Start())
	if l.base != nil {
		since = laterTime(since, l.base.FirstFetched)
	}
	return since
}

// baseReport returns the source and the last fetches of the base.
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
