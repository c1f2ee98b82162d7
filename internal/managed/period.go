package managed

import "time"

// Period is a time span in which the same rules are in force at some hosts. It is comparable. The
// zero Period belongs to no schedule.
type Period struct {
	table *table
	turn  int
}

// Period returns the period of a host at a time.
func (s *Schedule) Period(host string, now time.Time) Period {
	t := s.tableOf(host)
	return Period{t, t.turn(now)}
}

// Start returns the start of the period, or the zero time for the first period.
func (p Period) Start() time.Time { return p.table.start(p.turn) }

// End returns the end of the period, or the zero time for the last period.
func (p Period) End() time.Time { return p.table.end(p.turn) }

// Before returns the previous period. It returns false for the first period.
func (p Period) Before() (Period, bool) { return Period{p.table, p.turn - 1}, p.turn > 0 }

// Plan returns the plan of the period.
func (p Period) Plan() *Plan { return p.table.plan(p.turn) }

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
