package managed

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Schedule is what a site's owner wants in its robots.txt by time and host. It is
// immutable for those who ask it.
type Schedule struct {
	names    *names
	rules    []Rule
	sitemaps []string
	lines    []string
	staging  []string       // hosts, as they were written
	staged   *request.Hosts // the same, nil for none
	common   *table
	exact    map[string]*table // by host
	below    map[string]*table // by what follows the *. of a wildcard
	turns    []time.Time       // of all tables
}

// table is what holds at some hosts. Its turns part time into len(turns)+1 pieces,
// within each of which the same rules are in force.
type table struct {
	schedule *Schedule
	rules    []int // of the schedule
	turns    []time.Time
	hosts    bool // some text depends on the host

	mu    sync.Mutex
	plans [2]struct { // that of a turn and the next, by its last bit
		turn int
		plan *Plan
	}
}

// NewSchedule returns a schedule. Its errors say which rule or line is wrong, and
// which two contradict each other at some time and host.
func NewSchedule(registry *uaident.Registry, rules []Rule, sitemaps, lines []string) (*Schedule, error) {
	return makeSchedule(newNames(registry), rules, sitemaps, lines)
}

func makeSchedule(names *names, rules []Rule, sitemaps, lines []string) (*Schedule, error) {
	s := &Schedule{names: names, rules: slices.Clone(rules), sitemaps: sitemaps, lines: lines}
	if err := s.names.compile(s.rules); err != nil {
		return nil, err
	}
	if err := contradiction(s.rules); err != nil {
		return nil, err
	}
	if _, err := newPlan(s.names, nil, sitemaps, lines); err != nil {
		return nil, err
	}
	return s, s.makeTables()
}

// mostInTables bounds how many rules all tables have together, each as often as it
// stands in one: rules for all hosts stand in the table of each host that has its own.
const mostInTables = 20_000_000

// makeTables finds out which rules are for which hosts. Hosts with the same rules
// share a table.
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
	if all > mostInTables {
		return fmt.Errorf("there are too many rules for too many hosts: %d rules are for all of them, and %d hosts have some of their own; split the hosts into several sites", len(common), len(exact)+len(below))
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
	t := &table{schedule: s, rules: rules, hosts: slices.ContainsFunc(slices.Concat(s.sitemaps, s.lines), dependsOnHost)}
	for _, i := range rules {
		t.hosts = t.hosts || slices.ContainsFunc(append([]string{s.rules[i].Usage}, s.rules[i].Paths...), dependsOnHost)
		for _, end := range []time.Time{s.rules[i].From, s.rules[i].Until} {
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

// At returns what holds for a host at a time, and when that changes, zero for
// never.
func (s *Schedule) At(now time.Time, host string) (*Plan, time.Time) {
	p := s.Period(host, now)
	return p.Plan(), p.End()
}

// Text returns what a host is served at a time whose base is known, or why that is
// nothing.
func (s *Schedule) Text(now time.Time, host string, base []byte) ([]byte, error) {
	if s.IsStaging(host) {
		return []byte(Staging), nil
	}
	plan, _ := s.At(now, host)
	return plan.Compose(base, host)
}

// Next returns the first time after now at which some text changes, zero if none
// does any more.
func (s *Schedule) Next(now time.Time) time.Time {
	i := turnsUntil(s.turns, now)
	if i == len(s.turns) {
		return time.Time{}
	}
	return s.turns[i]
}

// of returns the table of a host.
func (s *Schedule) of(host string) *table {
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

// turnsUntil returns how many times are not after now.
func turnsUntil(turns []time.Time, now time.Time) int {
	return sort.Search(len(turns), func(i int) bool { return turns[i].After(now) })
}

// turn returns the piece of time that now is in.
func (t *table) turn(now time.Time) int { return turnsUntil(t.turns, now) }

// start returns when a piece of time begins, zero for the first.
func (t *table) start(turn int) time.Time {
	if turn == 0 {
		return time.Time{}
	}
	return t.turns[turn-1]
}

// end returns when a piece of time ends, zero for the last.
func (t *table) end(turn int) time.Time {
	if turn == len(t.turns) {
		return time.Time{}
	}
	return t.turns[turn]
}

// plan returns what holds in a piece of time. The plans of two in a row are kept.
func (t *table) plan(turn int) *Plan {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := &t.plans[turn&1]
	if kept.plan == nil || kept.turn != turn {
		kept.turn, kept.plan = turn, t.make(turn)
	}
	return kept.plan
}

func (t *table) make(turn int) *Plan {
	s, start := t.schedule, t.start(turn)
	var active []*Rule
	for _, i := range t.rules {
		if r := &s.rules[i]; r.has(start) {
			active = append(active, r)
		}
	}
	plan, err := newPlan(s.names, active, s.sitemaps, s.lines)
	if err != nil {
		panic(fmt.Sprintf("rules that were checked one by one and two by two: %v", err))
	}
	return plan
}

// Lifetime returns how long clients may keep a page: no longer than until another
// takes its place, and never less than the minute that all of them keep it. It is
// rounded up to a second: who comes back before the turn would keep the old page
// for another minute.
func Lifetime(most time.Duration, now, until time.Time) time.Duration {
	if until.IsZero() {
		return most
	}
	rest := (until.Sub(now) + time.Second - 1).Truncate(time.Second)
	return max(min(most, rest), time.Minute)
}
