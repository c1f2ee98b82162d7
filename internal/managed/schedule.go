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

// Schedule has the rules of a site, with the times and hosts at which they are in force. A Schedule
// is immutable for callers.
type Schedule struct {
	resolver      *nameResolver
	spec          Spec
	rules         []rule      // These are the rules of the spec.
	stagingHosts  *site.Hosts // stagingHosts matches the staging hosts. It is nil if there are none.
	commonTable   *ruleTable
	tableByHost   map[string]*ruleTable // The key is a host.
	tableBySuffix map[string]*ruleTable // The key is the suffix of a wildcard, without "*.".
	changeTimes   []time.Time           // These are the change times of all tables.
}

// ruleTable has the rules for hosts with the same rules. Its change times divide time into
// len(changeTimes)+1 periods in which the rules in force do not change.
type ruleTable struct {
	schedule      *Schedule
	rules         []int // rules are the indexes of the rules in the schedule.
	changeTimes   []time.Time
	dependsOnHost bool // dependsOnHost is true if a file depends on the host.

	mu sync.Mutex
	// These are the cached plans of two consecutive periods. The index is the lowest bit of the
	// period's index.
	plans [2]struct {
		turn int
		plan *Plan
	}
}

// NewSchedule returns the schedule of a spec. The error names an invalid rule or line, or two rules
// that contradict each other at a time and host. An error about a rule is a [RuleError].
func NewSchedule(registry *uaident.Registry, spec Spec) (*Schedule, error) {
	return makeSchedule(newNameResolver(registry), spec.clone())
}

// makeSchedule is NewSchedule for a spec that it may modify.
func makeSchedule(resolver *nameResolver, spec Spec) (*Schedule, error) {
	s := &Schedule{resolver: resolver, spec: spec}
	var err error
	if s.rules, err = resolver.compileRules(&s.spec); err != nil {
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

// maxInTables is the maximum total number of rules in all tables. A rule for all hosts is in the
// table of each host that has rules of its own.
const maxInTables = 20_000_000

// makeTables sets the rules of each host. Hosts with the same rules share a table.
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
	s.commonTable = s.getOrCreateTable(known, common)
	s.tableByHost, s.tableBySuffix = make(map[string]*ruleTable, len(exact)), make(map[string]*ruleTable, len(below))
	for rest, rules := range below {
		s.tableBySuffix[rest] = s.getOrCreateTable(known, common, rules)
	}
	for host, rules := range exact {
		_, rest, _ := strings.Cut(host, ".")
		s.tableByHost[host] = s.getOrCreateTable(known, common, rules, below[rest])
	}
	for _, t := range known {
		s.changeTimes = append(s.changeTimes, t.changeTimes...)
	}
	s.changeTimes = sortedTimes(s.changeTimes)
	return nil
}

// getOrCreateTable returns the table with the rules in all parts, which are indexes in s.rules.
// known has the tables by rules.
func (s *Schedule) getOrCreateTable(known map[string]*ruleTable, parts ...[]int) *ruleTable {
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

// sortedTimes sorts times in place, and returns them without duplicates.
func sortedTimes(times []time.Time) []time.Time {
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

// Compose applies the rules in force at the time now to a base, and returns the robots.txt for a
// host.
func (s *Schedule) Compose(now time.Time, host string, base []byte) ([]byte, error) {
	if s.IsStagingHost(host) {
		return []byte(Staging), nil
	}
	return s.FindPeriod(host, now).FilePlan().Compose(base, host)
}

// NextChange returns the first time after now at which a rule begins or ends at any host, or the
// zero time.
func (s *Schedule) NextChange(now time.Time) time.Time {
	all := ruleTable{changeTimes: s.changeTimes}
	return all.findPeriod(now).End()
}

// tableForHost returns the table with the rules for a host.
func (s *Schedule) tableForHost(host string) *ruleTable {
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

// CacheLifetime returns how long a client may cache a robots.txt at the time now: until its next
// change, but at least one minute and at most maxAge. until is the time of the change, or zero for
// none. The result is rounded up to a second. Otherwise a client that comes back just before the
// change would keep the file for another minute.
func CacheLifetime(maxAge time.Duration, now, until time.Time) time.Duration {
	if until.IsZero() {
		return maxAge
	}
	rest := (until.Sub(now) + time.Second - 1).Truncate(time.Second)
	return max(min(maxAge, rest), time.Minute)
}

// Spec has everything that determines the robots.txt files of a site, except the bases. Its JSON is
// the stored form of a [Schedule].
type Spec struct {
	Rules      []Rule     `json:"rules,omitempty"` // Rules are the rules of the configuration.
	Lists      []RuleList `json:"lists,omitempty"`
	Sitemaps   []string   `json:"sitemaps,omitempty"`
	ExtraLines []string   `json:"lines,omitempty"`
	// StagingHosts are the hosts that serve [Staging]. [AllHosts] means all hosts.
	StagingHosts []string `json:"staging,omitempty"`
}

// RuleList is a list of rules from a file or URL.
type RuleList struct {
	Name  string `json:"name"`
	Rules []Rule `json:"rules,omitempty"`
}

// AllHosts in Spec.StagingHosts selects all hosts.
const AllHosts = "*"

// clone returns a copy of the spec with rules that can be modified.
func (s Spec) clone() Spec {
	s.Rules, s.Lists = slices.Clone(s.Rules), slices.Clone(s.Lists)
	for i := range s.Lists {
		s.Lists[i].Rules = slices.Clone(s.Lists[i].Rules)
	}
	return s
}

// EncodeSpec returns the spec as JSON, without the positions of rules. Schedules with the same spec
// have the same JSON. The JSON of an empty spec is {}.
func (s *Schedule) EncodeSpec() []byte {
	data, err := json.Marshal(s.spec)
	if err != nil {
		// This cannot fail, because the spec has only strings.
		panic(fmt.Sprintf("encoding a checked schedule: %v", err))
	}
	return data
}

// ParseSpec returns the schedule of a stored spec. An unknown field is an error, because a rule
// could have another effect without the field. A crawler name that is not in the registry is
// treated as a product token, because another instance may have registered it.
func ParseSpec(registry *uaident.Registry, data []byte) (*Schedule, error) {
	var stored Spec
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&stored); err != nil {
		return nil, fmt.Errorf("stored rules: %w", err)
	}
	resolver := newNameResolver(registry)
	resolver.isStoredSpec = true
	return makeSchedule(resolver, stored)
}

// HasStaging reports whether any host is a staging host.
func (s *Schedule) HasStaging() bool { return s.stagingHosts != nil }

// IsStagingHost reports whether a host is a staging host.
func (s *Schedule) IsStagingHost(host string) bool {
	return s.stagingHosts != nil && (slices.Contains(s.spec.StagingHosts, AllHosts) || s.stagingHosts.MatchesHost(host))
}

// Period is a time span in which the rules in force at some hosts do not change. Periods can be
// compared with ==. The zero Period belongs to no schedule.
type Period struct {
	table *ruleTable
	index int
}

// FindPeriod returns the period of a host that contains a time.
func (s *Schedule) FindPeriod(host string, now time.Time) Period {
	return s.tableForHost(host).findPeriod(now)
}

// findPeriod returns the period that contains a time.
func (t *ruleTable) findPeriod(now time.Time) Period {
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

// Previous returns the period before p. ok is false for the first period.
func (p Period) Previous() (previous Period, ok bool) {
	return Period{p.table, p.index - 1}, p.index > 0
}

// next returns the period after p. ok is false for the last period.
func (p Period) next() (next Period, ok bool) {
	return Period{p.table, p.index + 1}, p.index < len(p.table.changeTimes)
}

// FilePlan returns the plan with the rules in force. It caches the plans of two consecutive periods
// of the same hosts.
func (p Period) FilePlan() *Plan {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	cached := &t.plans[p.index&1]
	if cached.plan == nil || cached.turn != p.index {
		cached.turn, cached.plan = p.index, p.compilePlan()
	}
	return cached.plan
}

// compilePlan returns a new plan with the rules in force.
func (p Period) compilePlan() *Plan {
	s := p.table.schedule
	plan, err := newPlan(s.resolver, p.rulesInForce(), s.spec.Sitemaps, s.spec.ExtraLines)
	if err != nil {
		panic(fmt.Sprintf("a checked schedule has no valid plan: %v", err))
	}
	return plan
}

// DependsOnHost reports whether the files of two hosts may differ although their bases are equal.
func (p Period) DependsOnHost() bool { return p.table.dependsOnHost }

// NumRulesInForce returns the number of rules that are in force in the period.
func (p Period) NumRulesInForce() int { return len(p.rulesInForce()) }

// rulesInForce returns the rules that are in force in the period.
func (p Period) rulesInForce() (active []*rule) {
	for _, i := range p.table.rules {
		if r := &p.table.schedule.rules[i]; r.window.contains(p.Start()) {
			active = append(active, r)
		}
	}
	return active
}

// Window is the time in which a rule is in force: from From until just before Until. A zero time
// means no limit.
type Window struct {
	From, Until time.Time
}

// ParseWindow parses the start and the end of a window in the format of RFC 3339. "" means no
// limit. Errors say how to correct the time.
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
	return w, fmt.Errorf("the rule would end at %s, before it begins at %s; swap the times", until, from)
}

// parseTime parses a start or end in the format of RFC 3339. The result is zero for "". name is the
// option in errors, from or until.
func parseTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	// The zero time, in the year 1, would mean no limit.
	if _, bad := t.MarshalText(); err == nil && bad == nil && t.Year() > 1 {
		return t, nil
	}
	zoneless := strings.Replace(text, " ", "T", 1)
	for layout, missing := range map[string]string{"2006-01-02T15:04:05": "Z", "2006-01-02T15:04": ":00Z", "2006-01-02": "T00:00:00Z"} {
		if _, err := time.Parse(layout, zoneless); err == nil {
			return time.Time{}, fmt.Errorf("%s %q has no time zone, or no time of day; write %s, or with an offset, for example +01:00 in place of Z", name, text, zoneless+missing)
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is not an RFC 3339 time; write it as 2026-11-27T00:00:00+01:00", name, text)
}

// contains reports whether t is in the window.
func (w Window) contains(t time.Time) bool {
	return !t.Before(w.From) && (w.Until.IsZero() || t.Before(w.Until))
}

// overlaps reports whether two windows have a time in common.
func (w Window) overlaps(o Window) bool {
	return (w.Until.IsZero() || o.From.Before(w.Until)) && (o.Until.IsZero() || w.From.Before(o.Until))
}

// intersect returns the time that two windows have in common. They must overlap.
func (w Window) intersect(o Window) Window {
	if o.From.After(w.From) {
		w.From = o.From
	}
	if w.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(w.Until) {
		w.Until = o.Until
	}
	return w
}

// String returns the window as in "from 2026-11-27T00:00:00Z until ...". The result is "" for a
// window without limits.
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
