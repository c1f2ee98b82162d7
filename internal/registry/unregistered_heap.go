package registry

import "container/heap"

// nameHeap is a heap of unregistered names with the rarest name first.
type nameHeap []*nameStats

func (h nameHeap) Len() int           { return len(h) }
func (h nameHeap) Less(i, j int) bool { return h[i].count < h[j].count }
func (h *nameHeap) Push(s any)        { *h = append(*h, s.(*nameStats)) }

func (h nameHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}

// Pop implements [heap.Interface].
func (h *nameHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// insert adds a name.
func (h *nameHeap) insert(s *nameStats) {
	s.heapIndex = len(*h)
	heap.Push(h, s)
}

// fixAfterCount restores the order after s.count has grown. Usually nothing moves.
func (h *nameHeap) fixAfterCount(s *nameStats) {
	firstChild := 2*s.heapIndex + 1
	for _, child := range (*h)[min(firstChild, len(*h)):min(firstChild+2, len(*h))] {
		if child.count < s.count {
			heap.Fix(h, s.heapIndex)
			return
		}
	}
}
