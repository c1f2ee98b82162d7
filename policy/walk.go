package policy

import (
	"math/bits"
	"sync"
)

// manyTries is after how many patterns that were searched for in a target in vain all
// others are looked for at once.
const manyTries = 64

// walk does what [wildcards.match] does, for very many patterns: it goes through the
// target once, and each pattern waits for its next piece. A byte costs one search in
// the pieces, a pattern a few steps for each of its pieces that is found. It returns
// false, and has done nothing, where the searches compare so much that to try each
// pattern takes less: pieces that are very long, in a target that nearly has them
// everywhere.
func (w *wildcards) walk(target string, form Form, found *candidates, out *outcome) bool {
	var s *walker
	if found == nil {
		s = walkers.Get().(*walker)
		defer s.release()
	} else {
		if found.walker == nil {
			found.walker = walkers.Get().(*walker)
		}
		s = found.walker
	}
	walks := s.walk(&walked{w, w.cut(), target, form, out}, found)
	if s.text = ""; walks {
		s.text = target
	}
	return walks
}

// walked is what a walk is about.
type walked struct {
	*wildcards
	pieces *pieces
	target string
	form   Form
	out    *outcome
}

// walker is how far the patterns have got in a target. Lists of patterns begin with the
// number of the first, plus 1; 0 is their end.
type walker struct {
	text    string   // the form of the target that was looked through last, "" for none
	longest []int32  // by place in it: the longest piece that begins there, -1 for none
	seen    []seen   // by piece
	awaited []uint64 // a bit for each piece: patterns wait for it
	lists   []int32  // by piece: these patterns
	due     []int32  // by place: the patterns that wait from there on
	states  []state  // by pattern
	open    int      // how many wait
}

// seen is where a piece begins for the first time and for the last.
type seen struct {
	first int32
	last  int32 // plus 1; 0 for nowhere
}

// state is what a pattern waits for.
type state struct {
	next  int32 // the pattern behind it in its list
	at    int32 // a place in pieces.sequence
	piece int32 // what stands there
}

var walkers = sync.Pool{New: func() any { return new(walker) }}

// release gives the memory of the walker back, without the target, which its owner may
// write over.
func (s *walker) release() {
	s.text = ""
	walkers.Put(s)
}

// zeros returns n zeros, in the memory of old if they fit.
func zeros[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

func (s *walker) walk(w *walked, found *candidates) bool {
	if !s.look(w) {
		return false
	}
	s.awaited = zeros(s.awaited, (len(s.seen)+63)/64)
	s.lists = zeros(s.lists, len(s.seen))
	s.due = zeros(s.due, len(w.target))
	s.states = zeros(s.states, len(w.patterns))
	s.open = 0
	for _, i := range w.always {
		s.start(w, i)
	}
	if found != nil {
		for word, set := range found.bits {
			for ; set != 0; set &= set - 1 {
				s.start(w, int32(word<<6|bits.TrailingZeros64(set)))
			}
		}
	}
	for place := 0; place < len(w.target) && s.open > 0; place++ {
		s.arrive(place)
		for last := s.longest[place]; last >= 0; last = w.pieces.above[last] {
			first := w.pieces.runFrom[last]
			for piece := s.lastAwaited(first, last); piece >= 0; piece = s.lastAwaited(first, last) {
				s.advance(w, piece, place)
			}
		}
	}
	return true
}

// comparedAtOnce is about how many bytes are compared in the time that one byte takes
// where a pattern is tried.
const comparedAtOnce = 32

// look finds the pieces that stand in the target. It gives up where that takes longer
// than to try each pattern may. What the form before this one begins and ends with, too,
// is not looked through again.
func (s *walker) look(w *walked) bool {
	x := w.pieces
	room := int64(comparedAtOnce) * int64(len(w.patterns)) * int64(len(w.target))
	comparisons := 4 + bits.Len(uint(len(x.lengths))) // of a search; the last is a slow one
	s.seen = zeros(s.seen, len(x.lengths))
	from, to := s.keep(w.target, x.most)
	for place := from; place < to; place++ {
		number, compared := x.begins(w.target[place:])
		s.longest[place] = number
		if room -= int64(comparisons) * int64(compared); room < 0 {
			return false
		}
	}
	for place, number := range s.longest {
		if number >= 0 {
			s.seen[number].add(seen{int32(place), int32(place + 1)})
		}
	}
	for i := len(s.seen) - 1; i >= 0; i-- { // what a piece starts with has a lesser number
		above := int32(i - 1)
		if x.runFrom[i] == int32(i) {
			above = x.above[i]
		}
		if above >= 0 && s.seen[i].last > 0 {
			s.seen[above].add(s.seen[i])
		}
	}
	return true
}

// keep makes longest that of another target, but from one place to another, which are to be
// looked through. Pieces have so many bytes at most.
func (s *walker) keep(target string, most int) (from, to int) {
	begin, end := 0, 0
	for least := min(len(target), len(s.text)); begin < least && target[begin] == s.text[begin]; {
		begin++
	}
	for least := min(len(target), len(s.text)) - begin; end < least && target[len(target)-1-end] == s.text[len(s.text)-1-end]; {
		end++
	}
	known := s.longest[:len(s.text)]
	if cap(s.longest) < len(target) {
		s.longest = make([]int32, len(target))
		copy(s.longest, known[:begin])
	}
	s.longest = s.longest[:len(target)]
	to = len(target) - end
	copy(s.longest[to:], known[len(known)-end:])
	return min(max(0, begin-most+1), to), to
}

func (s *seen) add(other seen) {
	if s.last == 0 {
		*s = other
	}
	s.first, s.last = min(s.first, other.first), max(s.last, other.last)
}

// start lets a pattern wait for its first piece, if it can match and would matter.
func (s *walker) start(w *walked, i int32) {
	p := &w.patterns[i]
	if !w.out.matters(p.allow, p.length, p.rule) || !p.fits(w.target) {
		return
	}
	s.states[i].at = w.pieces.from[i]
	if s.isHopeful(w, w.pieces.from[i], len(p.prefix), len(w.target)-len(p.suffix)) {
		s.expect(w, i, len(p.prefix))
	}
}

// isHopeful reports whether each of the pieces from one on stands somewhere behind where
// the one before it may end first.
func (s *walker) isHopeful(w *walked, at int32, from, to int) bool {
	for ; w.pieces.sequence[at] >= 0; at++ {
		piece := w.pieces.sequence[at]
		seen := s.seen[piece]
		if int(seen.last) <= from {
			return false
		}
		from = max(from, int(seen.first)) + int(w.pieces.lengths[piece])
	}
	return from <= to
}

// expect lets a pattern wait from a place on, unless it has all that it needs.
func (s *walker) expect(w *walked, i int32, from int) {
	state := &s.states[i]
	state.piece = w.pieces.sequence[state.at]
	if state.piece < 0 {
		p := &w.patterns[i]
		if from <= len(w.target)-len(p.suffix) && w.out.matters(p.allow, p.length, p.rule) {
			w.out.take(p.allow, p.length, p.rule, w.form)
		}
		return
	}
	if from < len(w.target) {
		state.next, s.due[from] = s.due[from], i+1
		s.open++
	}
}

// arrive lets the patterns that are due at a place wait for their pieces.
func (s *walker) arrive(place int) {
	for i := s.due[place]; i > 0; {
		state := &s.states[i-1]
		piece, next := state.piece, state.next
		state.next, s.lists[piece] = s.lists[piece], i
		s.awaited[piece>>6] |= 1 << (piece & 63)
		i = next
	}
}

// lastAwaited returns the last of some pieces that a pattern waits for, -1 if none does.
func (s *walker) lastAwaited(first, last int32) int32 {
	set := s.awaited[last>>6] << (63 - last&63) >> (63 - last&63)
	for word := last >> 6; ; {
		if word == first>>6 {
			set = set >> (first & 63) << (first & 63)
		}
		if set != 0 {
			return word<<6 | int32(bits.Len64(set)-1)
		}
		if word == first>>6 {
			return -1
		}
		word--
		set = s.awaited[word]
	}
}

// advance lets all patterns go on that wait for a piece, which begins here.
func (s *walker) advance(w *walked, piece int32, place int) {
	end := place + int(w.pieces.lengths[piece])
	i := s.lists[piece]
	s.lists[piece] = 0
	s.awaited[piece>>6] &^= 1 << (piece & 63)
	for i > 0 {
		state := &s.states[i-1]
		next := state.next
		state.at++
		s.open--
		s.expect(w, i-1, end)
		i = next
	}
}
