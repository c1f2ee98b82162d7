package policy

import "sync"

// maxBufferedSize is the maximum size of a file that is parsed into parseBuffers, in bytes.
const maxBufferedSize = 16 << 10

// parseBuffers are slices that the parser reuses from one small file to the next.
type parseBuffers struct {
	rules   []rule
	agents  []agent
	groups  []group
	records []Record
}

var parseBufferPool = sync.Pool{New: func() any { return new(parseBuffers) }}

// assignTo makes the parser of r append to the buffers.
func (t *parseBuffers) assignTo(r *Robots) {
	r.rules, r.agents, r.groups, r.records = t.rules[:0], t.agents[:0], t.groups[:0], t.records[:0]
}

// copyTo replaces the buffers in r, after parsing, with copies of the exact length.
func (t *parseBuffers) copyTo(r *Robots) {
	t.rules, t.agents, t.groups, t.records = r.rules, r.agents, r.groups, r.records
	r.rules, r.agents, r.groups, r.records = cloneExact(t.rules), cloneExact(t.agents), cloneExact(t.groups), cloneExact(t.records)
	clear(t.rules) // The entries refer to the text of the file.
	clear(t.agents)
	clear(t.records)
}

// cloneExact returns a copy of s without spare capacity, or nil for an empty slice.
func cloneExact[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	c := make([]T, len(s)) // slices.Clone would allocate a larger capacity.
	copy(c, s)
	return c
}
