package policy

import "sync"

// smallSize is the maximum size of a file that is parsed into reusable tables, in bytes.
const smallSize = 16 << 10

// parseBuffers are reusable parse buffers for small files.
type parseBuffers struct {
	rules   []rule
	agents  []agent
	groups  []group
	records []Record
}

var parseBufferPool = sync.Pool{New: func() any { return new(parseBuffers) }}

// lendTo lets the parser of r use the tables.
func (t *parseBuffers) lendTo(r *Robots) {
	r.rules, r.agents, r.groups, r.records = t.rules[:0], t.agents[:0], t.groups[:0], t.records[:0]
}

// copyTo replaces the tables in r with copies of the needed length.
func (t *parseBuffers) copyTo(r *Robots) {
	t.rules, t.agents, t.groups, t.records = r.rules, r.agents, r.groups, r.records
	r.rules, r.agents, r.groups, r.records = cloneExact(t.rules), cloneExact(t.agents), cloneExact(t.groups), cloneExact(t.records)
	clear(t.rules) // the entries refer to the text of the file
	clear(t.agents)
	clear(t.records)
}

// cloneExact returns a copy with its own memory, or nil for an empty slice.
func cloneExact[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	c := make([]T, len(s)) // slices.Clone would allocate a larger capacity
	copy(c, s)
	return c
}
