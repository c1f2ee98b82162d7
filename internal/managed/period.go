package managed

import (
	"fmt"
	"sort"
	"time"
)

// Period is a time span in which the same rules are in force at some hosts. It is comparable. The
// zero Period belongs to no schedule.
type Period struct {
	table *table
	turn  int
}

// Period returns the period of a host at a time.
func (s *Schedule) Period(host string, now time.Time) Period {
	return s.tableOf(host).period(now)
}

func (t *table) period(now time.Time) Period {
	return Period{t, sort.Search(len(t.turns), func(i int) bool { return t.turns[i].After(now) })}
}

// Start returns the start of the period, or the zero time for the first period.
func (p Period) Start() time.Time {
	if p.turn == 0 {
		return time.Time{}
	}
	return p.table.turns[p.turn-1]
}

// End returns the end of the period, or the zero time for the last period.
func (p Period) End() time.Time {
	if p.turn == len(p.table.turns) {
		return time.Time{}
	}
	return p.table.turns[p.turn]
}

// Previous returns the previous period. It returns false for the first period.
func (p Period) Previous() (Period, bool) { return Period{p.table, p.turn - 1}, p.turn > 0 }

// next returns the next period. It returns false for the last period.
func (p Period) next() (Period, bool) {
	return Period{p.table, p.turn + 1}, p.turn < len(p.table.turns)
}

// Plan returns the plan of the period. It caches two consecutive plans of a table.
func (p Period) Plan() *Plan {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	cached := &t.plans[p.turn&1]
	if cached.plan == nil || cached.turn != p.turn {
		cached.turn, cached.plan = p.turn, p.newPlan()
	}
	return cached.plan
}

func (p Period) newPlan() *Plan {
	s := p.table.schedule
	var active []*rule
	for _, i := range p.table.rules {
		if r := &s.rules[i]; r.window.has(p.Start()) {
			active = append(active, r)
		}
	}
	plan, err := newPlan(s.names, active, s.spec.Sitemaps, s.spec.Lines)
	if err != nil {
		panic(fmt.Sprintf("rules that were checked one by one and two by two: %v", err))
	}
	return plan
}

// DependsOnHost reports whether hosts with the same base have different files.
func (p Period) DependsOnHost() bool { return p.table.hosts }

// InForce returns the number of rules in force.
func (p Period) InForce() (n int) {
	for _, i := range p.table.rules {
		if p.table.schedule.rules[i].window.has(p.Start()) {
			n++
		}
	}
	return n
}
