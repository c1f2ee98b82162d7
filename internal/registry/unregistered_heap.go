package registry

import "container/heap"

// byCount is a heap of unregistered names with the rarest name first.
type byCount []*unregistered

func (h byCount) Len() int           { return len(h) }
func (h byCount) Less(i, j int) bool { return h[i].count < h[j].count }
func (h *byCount) Push(s any)        { *h = append(*h, s.(*unregistered)) }

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
func (h *byCount) add(s *unregistered) {
	s.place = len(*h)
	heap.Push(h, s)
}

// fix restores the order after s.count has grown. Usually nothing moves.
func (h *byCount) fix(s *unregistered) {
	below := 2*s.place + 1
	for _, other := range (*h)[min(below, len(*h)):min(below+2, len(*h))] {
		if other.count < s.count {
			heap.Fix(h, s.place)
			return
		}
	}
}
