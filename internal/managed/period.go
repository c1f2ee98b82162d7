package managed

import "time"

// Period is a time within which the same rules are in force at some hosts. It is comparable.
// The zero Period is of no schedule.
type Period struct {
	table *table
	turn  int
}

// Period returns the period of a host at a time.
func (s *Schedule) Period(host string, now time.Time) Period {
	t := s.of(host)
	return Period{t, t.turn(now)}
}

// Start returns when the period begins, zero for the first.
func (p Period) Start() time.Time { return p.table.start(p.turn) }

// End returns when the period ends, zero for the last.
func (p Period) End() time.Time { return p.table.end(p.turn) }

// Before returns the period before this one. It returns false for the first.
func (p Period) Before() (Period, bool) { return Period{p.table, p.turn - 1}, p.turn > 0 }

// Plan returns what holds in the period.
func (p Period) Plan() *Plan { return p.table.plan(p.turn) }

// DependsOnHost reports whether hosts with the same base have different files.
func (p Period) DependsOnHost() bool { return p.table.hosts }

// InForce returns how many rules are in force in the period.
func (p Period) InForce() (n int) {
	for _, i := range p.table.rules {
		if p.table.schedule.rules[i].has(p.Start()) {
			n++
		}
	}
	return n
}
