package guard

import "time"

// clock returns the time since a fixed moment, monotonically.
type clock func() time.Duration

// newClock returns a clock that starts now.
func newClock() clock {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

// stopwatch measures the time to the first byte of a response. The zero stopwatch does not run.
type stopwatch struct {
	clock clock
	began time.Duration
	took  time.Duration // 0 while it runs, at least 1 then
}

// start starts the stopwatch with a clock.
func (s *stopwatch) start(by clock) { *s = stopwatch{clock: by, began: by()} }

// runs reports whether the stopwatch has started and the first byte was not sent.
func (s *stopwatch) runs() bool { return s.clock != nil && s.took == 0 }

// firstByte stops the stopwatch.
func (s *stopwatch) firstByte() {
	if s.runs() {
		s.took = max(1, s.clock()-s.began)
	}
}

// read returns the time to the first byte, or until now without a response; 0 if it did not start.
func (s *stopwatch) read() time.Duration {
	s.firstByte()
	return s.took
}
