package ledger

import (
	"cmp"
	"slices"
	"time"
)

// cell is what was counted in a step.
type cell interface {
	Cell | AnswerCell
	slot() uint32 // the number of the step since the Unix epoch
}

func (c Cell) slot() uint32       { return c[0] }
func (c AnswerCell) slot() uint32 { return c[0] }

// search returns where the cell of a step is or would be, among cells in order.
func search[C cell](cells []C, slot uint32) (int, bool) {
	return slices.BinarySearchFunc(cells, slot, func(c C, slot uint32) int { return cmp.Compare(c.slot(), slot) })
}

// cellAt returns cells with one for the step of an empty cell, and where that is; -1 if the
// step is too old. What gets too old by it is dropped.
func cellAt[C cell](cells []C, empty C, steps uint32) ([]C, int) {
	slot, n := empty.slot(), len(cells)
	switch {
	case n > 0 && cells[n-1].slot() == slot:
		return cells, n - 1
	case n == 0 || slot > cells[n-1].slot():
		if slot >= steps {
			cells = dropBefore(cells, slot-steps+1)
		}
		return append(cells, empty), len(cells)
	case cells[n-1].slot()-slot >= steps:
		return cells, -1
	}
	i, found := search(cells, slot)
	if !found {
		cells = slices.Insert(cells, i, empty)
	}
	return cells, i
}

// dropBefore returns cells without those before a step.
func dropBefore[C cell](cells []C, slot uint32) []C {
	if i, _ := search(cells, slot); i > 0 {
		return slices.Delete(cells, 0, i)
	}
	return cells
}

// prune returns cells without what is outside of the last steps at now, for retention
// at most, and without what is in the future.
func prune[C cell](cells []C, r Resolution, steps uint32, now int64, retention time.Duration) []C {
	last := r.slot(now)
	if i, _ := search(cells, last+1); i < len(cells) {
		cells = cells[:i]
	}
	first := r.slot(now - retention.Milliseconds())
	if last >= steps {
		first = max(first, last-steps+1)
	}
	return dropBefore(cells, first)
}

// between returns the cells from the step of one time to that of another.
func between[C cell](cells []C, r Resolution, from, to time.Time) []C {
	i, _ := search(cells, r.slot(from.UnixMilli()))
	n := len(cells)
	if last := r.slot(to.UnixMilli()); n > i && cells[n-1].slot() > last {
		n, _ = search(cells, last+1)
	}
	return cells[i:max(i, n)]
}
