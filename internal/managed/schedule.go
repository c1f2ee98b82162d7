package managed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Schedule has the rules of a site by time and host. It is immutable for callers.
type Schedule struct {
	names        *names
	spec         Spec
	rules        []rule      // of the spec
	stagingHosts *site.Hosts // matches the staging hosts; nil for none
	common       *table
	exact        map[string]*table // by host
	below        map[string]*table // by the wildcard's suffix after *.
	turns        []time.Time       // of all tables
}

// table has the rules of some hosts. The turns divide time into len(turns)+1 periods. The rules in
// force do not change within a period.
type table struct {
	schedule *Schedule
	rules    []int // indexes of rules in the schedule
	turns    []time.Time
	hosts    bool // a file depends on the host

	mu    sync.Mutex
	plans [2]struct { // cached plans of two consecutive turns, by the lowest bit
		turn int
		plan *Plan
	}
}

// NewSchedule returns the schedule of a spec. Errors name an invalid rule or line, or two rules that
// contradict each other at a time and host. An error about a rule is a [RuleError].
func NewSchedule(registry *uaident.Registry, spec Spec) (*Schedule, error) {
	return makeSchedule(newNames(registry), spec.clone())
}

func makeSchedule(names *names, spec Spec) (*Schedule, error) {
	s := &Schedule{names: names, spec: spec}
	var err error
	if s.rules, err = names.compile(&s.spec); err != nil {
		return nil, err
	}
	if err := contradiction(s.rules); err != nil {
		return nil, err
	}
	if _, err := newPlan(names, nil, spec.Sitemaps, spec.Lines); err != nil {
		return nil, err
	}
	if len(spec.Staging) > 0 {
		s.stagingHosts = site.HostsOfServer(nil)
		s.stagingHosts.Add(spec.Staging)
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
	known := make(map[string]*table)
	s.common = s.table(known, common)
	s.exact, s.below = make(map[string]*table, len(exact)), make(map[string]*table, len(below))
	for rest, rules := range below {
		s.below[rest] = s.table(known, common, rules)
	}
	for host, rules := range exact {
		_, rest, _ := strings.Cut(host, ".")
		s.exact[host] = s.table(known, common, rules, below[rest])
	}
	for _, t := range known {
		s.turns = append(s.turns, t.turns...)
	}
	s.turns = sortedTimes(s.turns)
	return nil
}

// table returns the table of some rules.
func (s *Schedule) table(known map[string]*table, parts ...[]int) *table {
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
	t := &table{schedule: s, rules: rules, hosts: slices.ContainsFunc(slices.Concat(s.spec.Sitemaps, s.spec.Lines), dependsOnHost)}
	for _, i := range rules {
		t.hosts = t.hosts || slices.ContainsFunc(append([]string{s.rules[i].ContentUsage}, s.rules[i].Paths...), dependsOnHost)
		for _, end := range []time.Time{s.rules[i].window.From, s.rules[i].window.Until} {
			if !end.IsZero() {
				t.turns = append(t.turns, end)
			}
		}
	}
	t.turns = sortedTimes(t.turns)
	known[string(signature)] = t
	return t
}

func sortedTimes(times []time.Time) []time.Time {
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

// At returns the plan of a host at a time, and the time of the next change. The time is zero if there
// is no later change.
func (s *Schedule) At(now time.Time, host string) (*Plan, time.Time) {
	p := s.Period(host, now)
	return p.Plan(), p.End()
}

// Text returns the file of a host with this base at a time.
func (s *Schedule) Text(now time.Time, host string, base []byte) ([]byte, error) {
	if s.IsStaging(host) {
		return []byte(Staging), nil
	}
	plan, _ := s.At(now, host)
	return plan.Compose(base, host)
}

// Next returns the time of the first change of a file after now, or the zero time.
func (s *Schedule) Next(now time.Time) time.Time {
	all := table{turns: s.turns}
	return all.period(now).End()
}

// tableOf returns the table of a host.
func (s *Schedule) tableOf(host string) *table {
	if t := s.exact[host]; t != nil {
		return t
	}
	if len(s.below) > 0 {
		_, rest, _ := strings.Cut(host, ".")
		if t := s.below[rest]; t != nil {
			return t
		}
	}
	return s.common
}

// Lifetime returns the cache lifetime of a page. A page expires when the next page replaces it, but
// not before the minimum of one minute. The result is rounded up to a second. A client that returned
// shortly before the change would use the old page for another minute.
func Lifetime(most time.Duration, now, until time.Time) time.Duration {
	if until.IsZero() {
		return most
	}
	rest := (until.Sub(now) + time.Second - 1).Truncate(time.Second)
	return max(min(most, rest), time.Minute)
}
