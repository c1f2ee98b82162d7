package managed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Schedule has the rules of a site by time and host. A Schedule is immutable for callers.
type Schedule struct {
	resolver      *nameResolver
	spec          Spec
	rules         []rule      // of the spec
	stagingHosts  *site.Hosts // matches the staging hosts; nil for none
	commonTable   *ruleTable
	tableByHost   map[string]*ruleTable // by host
	tableBySuffix map[string]*ruleTable // by the wildcard's suffix after *.
	changeTimes   []time.Time           // of all tables
}

// ruleTable has the rules of some hosts. The turns divide time into len(turns)+1 periods. The rules in
// force do not change within a period.
type ruleTable struct {
	schedule      *Schedule
	rules         []int // indexes of rules in the schedule
	changeTimes   []time.Time
	dependsOnHost bool // a file depends on the host

	mu    sync.Mutex
	plans [2]struct { // cached plans of two consecutive turns, by the lowest bit
		turn int
		plan *Plan
	}
}

// NewSchedule returns the schedule of a spec. Errors name an invalid rule or line, or two
// contradictory rules at a time and host. An error about a rule is a [RuleError].
func NewSchedule(registry *uaident.Registry, spec Spec) (*Schedule, error) {
	return makeSchedule(newNameResolver(registry), spec.clone())
}

func makeSchedule(resolver *nameResolver, spec Spec) (*Schedule, error) {
	s := &Schedule{resolver: resolver, spec: spec}
	var err error
	if s.rules, err = resolver.compile(&s.spec); err != nil {
		return nil, err
	}
	if err := findContradiction(s.rules); err != nil {
		return nil, err
	}
	if _, err := newPlan(resolver, nil, spec.Sitemaps, spec.ExtraLines); err != nil {
		return nil, err
	}
	if len(spec.StagingHosts) > 0 {
		s.stagingHosts = site.NewHosts(nil)
		s.stagingHosts.AddNames(spec.StagingHosts)
	}
	return s, s.makeTables()
}

// maxInTables is the maximum number of rules in all tables together. A rule for all hosts is in the
// table of each host with its own rules.
const maxInTables = 20_000_000

// makeTables assigns rules to hosts. Hosts with the same rules share a table.
func (s *Schedule) makeTables() error {
	var common []int
	exact, below := make(map[string][]int), make(map[string][]int)
	for i := range s.rules {
		if len(s.rules[i].Hosts) == 0 {
			common = append(common, i)
		}
		for _, host := range s.rules[i].Hosts {
			if rest, ok := strings.CutPrefix(host, "*."); ok {
				below[rest] = append(below[rest], i)
			} else {
				exact[host] = append(exact[host], i)
			}
		}
	}
	all := 0
	for _, rules := range below {
		all += len(common) + len(rules)
	}
	for host, rules := range exact {
		_, rest, _ := strings.Cut(host, ".")
		all += len(common) + len(rules) + len(below[rest])
	}
	if all > maxInTables {
		return fmt.Errorf("too many rules for too many hosts: %d rules for all hosts, and %d hosts with rules of their own; split the hosts into several sites", len(common), len(exact)+len(below))
	}
	known := make(map[string]*ruleTable)
	s.commonTable = s.table(known, common)
	s.tableByHost, s.tableBySuffix = make(map[string]*ruleTable, len(exact)), make(map[string]*ruleTable, len(below))
	for rest, rules := range below {
		s.tableBySuffix[rest] = s.table(known, common, rules)
	}
	for host, rules := range exact {
		_, rest, _ := strings.Cut(host, ".")
		s.tableByHost[host] = s.table(known, common, rules, below[rest])
	}
	for _, t := range known {
		s.changeTimes = append(s.changeTimes, t.changeTimes...)
	}
	s.changeTimes = sortedTimes(s.changeTimes)
	return nil
}

// table returns the table of some rules.
func (s *Schedule) table(known map[string]*ruleTable, parts ...[]int) *ruleTable {
	rules := slices.Concat(parts...)
	slices.Sort(rules)
	rules = slices.Compact(rules)
	var signature []byte
	for _, i := range rules {
		signature = append(strconv.AppendInt(signature, int64(i), 36), ' ')
	}
	if t := known[string(signature)]; t != nil {
		return t
	}
	t := &ruleTable{schedule: s, rules: rules, dependsOnHost: slices.ContainsFunc(slices.Concat(s.spec.Sitemaps, s.spec.ExtraLines), dependsOnHost)}
	for _, i := range rules {
		t.dependsOnHost = t.dependsOnHost || slices.ContainsFunc(append([]string{s.rules[i].ContentUsage}, s.rules[i].Paths...), dependsOnHost)
		for _, end := range []time.Time{s.rules[i].window.From, s.rules[i].window.Until} {
			if !end.IsZero() {
				t.changeTimes = append(t.changeTimes, end)
			}
		}
	}
	t.changeTimes = sortedTimes(t.changeTimes)
	known[string(signature)] = t
	return t
}

func sortedTimes(times []time.Time) []time.Time {
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

// PlanAt returns the plan of a host at a time, and the time of the next change, or the zero time.
func (s *Schedule) PlanAt(now time.Time, host string) (*Plan, time.Time) {
	p := s.Period(host, now)
	return p.FilePlan(), p.End()
}

// Compose returns the file of a host with this base at a time.
func (s *Schedule) Compose(now time.Time, host string, base []byte) ([]byte, error) {
	if s.IsStaging(host) {
		return []byte(Staging), nil
	}
	plan, _ := s.PlanAt(now, host)
	return plan.Compose(base, host)
}

// NextChange returns the time of the first change of a file after now, or the zero time.
func (s *Schedule) NextChange(now time.Time) time.Time {
	all := ruleTable{changeTimes: s.changeTimes}
	return all.period(now).End()
}

// tableOf returns the table of a host.
func (s *Schedule) tableOf(host string) *ruleTable {
	if t := s.tableByHost[host]; t != nil {
		return t
	}
	if len(s.tableBySuffix) > 0 {
		_, rest, _ := strings.Cut(host, ".")
		if t := s.tableBySuffix[rest]; t != nil {
			return t
		}
	}
	return s.commonTable
}

// CacheLifetime returns the cache lifetime of a page. A page expires when the next page begins, but not
// before the minimum of one minute. The result is rounded up to a second. A client returning shortly
// before the change would use the old page for another minute.
func CacheLifetime(most time.Duration, now, until time.Time) time.Duration {
	if until.IsZero() {
		return most
	}
	rest := (until.Sub(now) + time.Second - 1).Truncate(time.Second)
	return max(min(most, rest), time.Minute)
}

// Spec has everything that determines the files of a site, except the bases. Its JSON is the stored
// form of a schedule.
type Spec struct {
	Rules      []Rule   `json:"rules,omitempty"` // of the configuration
	Lists      []List   `json:"lists,omitempty"`
	Sitemaps   []string `json:"sitemaps,omitempty"`
	ExtraLines []string `json:"lines,omitempty"`
	// StagingHosts are the hosts serving [Staging]. [AllHosts] selects all hosts.
	StagingHosts []string `json:"staging,omitempty"`
}

// List is a list of rules.
type List struct {
	Name  string `json:"name"`
	Rules []Rule `json:"rules,omitempty"`
}

// AllHosts in Spec.StagingHosts selects all hosts.
const AllHosts = "*"

// clone returns a spec whose rules can be modified.
func (s Spec) clone() Spec {
	s.Rules, s.Lists = slices.Clone(s.Rules), slices.Clone(s.Lists)
	for i := range s.Lists {
		s.Lists[i].Rules = slices.Clone(s.Lists[i].Rules)
	}
	return s
}

// EncodeSpec returns the schedule as JSON without source positions. Equal schedules have equal specs. The
// spec of an empty schedule is {}.
func (s *Schedule) EncodeSpec() []byte {
	data, err := json.Marshal(s.spec)
	if err != nil {
		panic(fmt.Sprintf("rules that were checked: %v", err)) // only strings
	}
	return data
}

// ParseSpec returns the schedule of a spec. Unknown fields are an error, because a part of the rules
// could have another effect. An unregistered crawler name is a product token, because another
// instance may have registered the name.
func ParseSpec(registry *uaident.Registry, data []byte) (*Schedule, error) {
	var stored Spec
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&stored); err != nil {
		return nil, fmt.Errorf("stored rules: %w", err)
	}
	resolver := newNameResolver(registry)
	resolver.stored = true
	return makeSchedule(resolver, stored)
}

// HasStaging reports whether any host is a staging site.
func (s *Schedule) HasStaging() bool { return s.stagingHosts != nil }

// IsStaging reports whether a host is a staging site.
func (s *Schedule) IsStaging(host string) bool {
	return s.stagingHosts != nil && (slices.Contains(s.spec.StagingHosts, AllHosts) || s.stagingHosts.MatchesHost(host))
}

// Period is a time span with the same rules in force at some hosts. Periods are comparable. The zero
// Period belongs to no schedule.
type Period struct {
	table *ruleTable
	index int
}

// Period returns the period of a host at a time.
func (s *Schedule) Period(host string, now time.Time) Period {
	return s.tableOf(host).period(now)
}

func (t *ruleTable) period(now time.Time) Period {
	return Period{t, sort.Search(len(t.changeTimes), func(i int) bool { return t.changeTimes[i].After(now) })}
}

// Start returns the start of the period, or the zero time for the first period.
func (p Period) Start() time.Time {
	if p.index == 0 {
		return time.Time{}
	}
	return p.table.changeTimes[p.index-1]
}

// End returns the end of the period, or the zero time for the last period.
func (p Period) End() time.Time {
	if p.index == len(p.table.changeTimes) {
		return time.Time{}
	}
	return p.table.changeTimes[p.index]
}

// Previous returns the previous period, and false for the first period.
func (p Period) Previous() (Period, bool) { return Period{p.table, p.index - 1}, p.index > 0 }

// next returns the next period, and false for the last period.
func (p Period) next() (Period, bool) {
	return Period{p.table, p.index + 1}, p.index < len(p.table.changeTimes)
}

// FilePlan returns the plan of the period. FilePlan caches two consecutive plans of a table.
func (p Period) FilePlan() *Plan {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	cached := &t.plans[p.index&1]
	if cached.plan == nil || cached.turn != p.index {
		cached.turn, cached.plan = p.index, p.newPlan()
	}
	return cached.plan
}

func (p Period) newPlan() *Plan {
	s := p.table.schedule
	plan, err := newPlan(s.resolver, p.inForce(), s.spec.Sitemaps, s.spec.ExtraLines)
	if err != nil {
		panic(fmt.Sprintf("rules that were checked one by one and two by two: %v", err))
	}
	return plan
}

// DependsOnHost reports whether hosts with the same base have different files.
func (p Period) DependsOnHost() bool { return p.table.dependsOnHost }

// NumRulesInForce returns the number of rules in force.
func (p Period) NumRulesInForce() int { return len(p.inForce()) }

// inForce returns the rules in force.
func (p Period) inForce() (active []*rule) {
	for _, i := range p.table.rules {
		if r := &p.table.schedule.rules[i]; r.window.contains(p.Start()) {
			active = append(active, r)
		}
	}
	return active
}

// Window is the time from From until just before Until. A zero From or Until means no limit.
type Window struct {
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// ParseWindow parses the ends of a window in the format of RFC 3339. "" means no limit. Errors
// explain the fix.
func ParseWindow(from, until string) (w Window, err error) {
	if w.From, err = parseTime("from", from); err != nil {
		return w, err
	}
	if w.Until, err = parseTime("until", until); err != nil {
		return w, err
	}
	switch {
	case w.From.IsZero() || w.Until.IsZero() || w.From.Before(w.Until):
		return w, nil
	case w.From.Equal(w.Until):
		return w, fmt.Errorf("the rule would begin and end at %s and never be in force; move one of the times", from)
	}
	return w, fmt.Errorf("it would end at %s, before it begins at %s; swap the times", until, from)
}

// parseTime parses a limit of a window.
func parseTime(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if _, bad := t.MarshalText(); err == nil && bad == nil && t.Year() > 1 { // the zero time is in the year 1
		return t, nil
	}
	zoneless := strings.Replace(text, " ", "T", 1)
	for layout, missing := range map[string]string{"2006-01-02T15:04:05": "Z", "2006-01-02T15:04": ":00Z", "2006-01-02": "T00:00:00Z"} {
		if _, err := time.Parse(layout, zoneless); err == nil {
			return time.Time{}, fmt.Errorf("%s %q has no time zone, or no time of day; write %s, or with an offset, for example +01:00 in place of Z", what, text, zoneless+missing)
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is not an RFC 3339 time; write it as 2026-11-27T00:00:00+01:00", what, text)
}

// contains reports whether a window includes a time.
func (w Window) contains(t time.Time) bool {
	return !t.Before(w.From) && (w.Until.IsZero() || t.Before(w.Until))
}

// overlaps reports whether two windows overlap.
func (w Window) overlaps(o Window) bool {
	return (w.Until.IsZero() || o.From.Before(w.Until)) && (o.Until.IsZero() || w.From.Before(o.Until))
}

// intersect returns the overlap of two overlapping windows.
func (w Window) intersect(o Window) Window {
	if o.From.After(w.From) {
		w.From = o.From
	}
	if w.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(w.Until) {
		w.Until = o.Until
	}
	return w
}

// String describes the window. The result is "" without limits.
func (w Window) String() string {
	var words []string
	if !w.From.IsZero() {
		words = append(words, "from "+w.From.Format(time.RFC3339))
	}
	if !w.Until.IsZero() {
		words = append(words, "until "+w.Until.Format(time.RFC3339))
	}
	return strings.Join(words, " ")
}
