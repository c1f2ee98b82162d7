package strangers

import "container/heap"

// byCount is a heap of unregistered names with the rarest first.
type byCount []*stranger

func (h byCount) Len() int           { return len(h) }
func (h byCount) Less(i, j int) bool { return h[i].count < h[j].count }
func (h *byCount) Push(s any)        { *h = append(*h, s.(*stranger)) }

func (h byCount) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Pop implements [heap.Interface].
func (h *byCount) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// add adds a name.
func (h *byCount) add(s *stranger) {
	s.place = len(*h)
	heap.Push(h, s)
}

// counted restores the heap after a name was counted. Mostly no element moves.
func (h *byCount) counted(s *stranger) {
	below := 2*s.place + 1
	for _, other := range (*h)[min(below, len(*h)):min(below+2, len(*h))] {
		if other.count < s.count {
			heap.Fix(h, s.place)
			return
		}
	}
}
