package guard

import "time"

// clock returns how long it is since some moment, by a clock that nobody sets.
type clock func() time.Duration

// newClock returns a clock that begins now.
func newClock() clock {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

// stopwatch takes the time to the first byte of an answer: until the handlers begin it.
// The zero stopwatch does not run.
type stopwatch struct {
	clock clock
	began time.Duration
	took  time.Duration // 0 while it runs, at least 1 then
}

// start starts the stopwatch, by a clock that is not nil.
func (s *stopwatch) start(by clock) { *s = stopwatch{clock: by, began: by()} }

// runs reports whether the stopwatch has been started and the first byte is not there.
func (s *stopwatch) runs() bool { return s.clock != nil && s.took == 0 }

// firstByte takes note that the answer begins.
func (s *stopwatch) firstByte() {
	if s.runs() {
		s.took = max(1, s.clock()-s.began)
	}
}

// read returns how long the first byte has taken, or the handlers if these have answered
// nothing; 0 if the stopwatch was not started.
func (s *stopwatch) read() time.Duration {
	s.firstByte()
	return s.took
}
