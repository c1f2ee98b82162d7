package policy

import "sync"

// smallSize is up to what size a file is read into tables that are used again, in bytes.
const smallSize = 16 << 10

// tables are reusable parse buffers for small files.
type tables struct {
	rules   []rule
	agents  []agent
	groups  []group
	records []Record
}

var tablesPool = sync.Pool{New: func() any { return new(tables) }}

// lend lets a file be read into the tables.
func (t *tables) lend(r *Robots) {
	r.rules, r.agents, r.groups, r.records = t.rules[:0], t.agents[:0], t.groups[:0], t.records[:0]
}

// takeBack leaves the file copies that are as long as they need to be.
func (t *tables) takeBack(r *Robots) {
	t.rules, t.agents, t.groups, t.records = r.rules, r.agents, r.groups, r.records
	r.rules, r.agents, r.groups, r.records = copied(t.rules), copied(t.agents), copied(t.groups), copied(t.records)
	clear(t.rules) // they refer to the text of the file
	clear(t.agents)
	clear(t.records)
}

// copied returns a copy that shares no memory, nil of nothing.
func copied[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	c := make([]T, len(s)) // in which, unlike in a slices.Clone, there is no room for more
	copy(c, s)
	return c
}
