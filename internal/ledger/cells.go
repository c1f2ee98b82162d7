package ledger

import (
	"cmp"
	"slices"
	"time"
)

// cell is an array whose first element is the number of its step since the Unix epoch.
type cell interface{ Cell | AnswerCell | VisitCell }

// searchCells returns the index of the cell of a step, or the index for inserting the cell.
func searchCells[C cell](cells []C, slot uint32) (int, bool) {
	return slices.BinarySearchFunc(cells, slot, func(c C, slot uint32) int { return cmp.Compare(c[0], slot) })
}

// cellAt returns the cell of a step, created if necessary, or nil if the step is too old. Cells
// that become too old are dropped. The usual case, the last cell, is inlined.
func cellAt[C cell](cells *[]C, slot, steps uint32) *C {
	if n := len(*cells); n > 0 && (*cells)[n-1][0] == slot {
		return &(*cells)[n-1]
	}
	return otherCellAt(cells, slot, steps)
}

// otherCellAt implements cellAt for a step other than the last.
func otherCellAt[C cell](cells *[]C, slot, steps uint32) *C {
	all := *cells
	n := len(all)
	var empty C
	empty[0] = slot
	if n == 0 || slot > all[n-1][0] {
		if slot >= steps {
			all = dropBefore(all, slot-steps+1)
		}
		*cells = append(all, empty)
		return &(*cells)[len(all)]
	}
	if all[n-1][0]-slot >= steps {
		return nil
	}
	i, found := searchCells(all, slot)
	if !found {
		*cells = slices.Insert(all, i, empty)
	}
	return &(*cells)[i]
}

// dropBefore removes the cells before a step.
func dropBefore[C cell](cells []C, slot uint32) []C {
	if i, _ := searchCells(cells, slot); i > 0 {
		return slices.Delete(cells, 0, i)
	}
	return cells
}

// prune removes cells older than steps or than retention, or in the future.
func prune[C cell](cells []C, r Resolution, steps uint32, now int64, retention time.Duration) []C {
	last := r.slot(now)
	if i, _ := searchCells(cells, last+1); i < len(cells) {
		cells = cells[:i]
	}
	first := r.slot(now - retention.Milliseconds())
	if last >= steps {
		first = max(first, last-steps+1)
	}
	return dropBefore(cells, first)
}

// cellsBetween returns the cells from one time to another, inclusive.
func cellsBetween[C cell](cells []C, r Resolution, from, to time.Time) []C {
	i, _ := searchCells(cells, r.slot(from.UnixMilli()))
	n := len(cells)
	if last := r.slot(to.UnixMilli()); n > i && cells[n-1][0] > last {
		n, _ = searchCells(cells, last+1)
	}
	return cells[i:max(i, n)]
}

// mergeCells calls add for each cell of from with the cell of the same step, unless the step is too
// old.
func mergeCells[C cell](to *[]C, from []C, steps uint32, add func(to, from *C)) {
	if len(*to) == 0 {
		*to = slices.Grow(*to, min(len(from), int(steps)))
	}
	for i := range from {
		if c := cellAt(to, from[i][0], steps); c != nil {
			add(c, &from[i])
		}
	}
}

// AnswerHours is the length of the hourly series of a [Timeline].
const AnswerHours = 48

// Timeline is an hourly and a daily series, oldest step first. Steps without counts have no cell.
type Timeline[C cell] [2][]C

// timelineResolutions are the resolutions of the series of a Timeline, with their lengths in steps.
var timelineResolutions = [2]struct {
	Resolution
	steps uint32
}{{Hours, AnswerHours}, {Days, uint32(Days.Steps())}}

// Series returns the series of a resolution, Hours or Days.
func (t *Timeline[C]) Series(r Resolution) []C { return t[r-Hours] }

// count calls add with the cell of a time in each series, unless the time is too old.
func (t *Timeline[C]) count(at int64, add func(*C)) {
	for i, r := range timelineResolutions {
		if c := cellAt(&t[i], r.slot(at), r.steps); c != nil {
			add(c)
		}
	}
}

// merge adds the cells of another timeline.
func (t *Timeline[C]) merge(other *Timeline[C], add func(to, from *C)) {
	for i, r := range timelineResolutions {
		mergeCells(&t[i], other[i], r.steps, add)
	}
}

// prune drops cells older than the series or than retention, or in the future. It reports whether
// any cells remain.
func (t *Timeline[C]) prune(now int64, retention time.Duration) bool {
	for i, r := range timelineResolutions {
		t[i] = prune(t[i], r.Resolution, r.steps, now, retention)
	}
	return len(t.Series(Days)) > 0
}
