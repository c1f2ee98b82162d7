package rate

import (
	"sync"
	"testing"
	"time"
)

// TestSlowingBeginsAnewForAll has several requests at once be one too many after a pause:
// what was before that is over for each of them.
func TestSlowingBeginsAnewForAll(t *testing.T) {
	for range 3000 {
		var s searchSlowing
		for range 100 {
			s.shouldSlow(time.Hour, false)
		}
		s.shouldSlow(time.Hour, true)
		later := time.Hour + slowingWindow + time.Hour
		for range 100 {
			s.shouldSlow(later, false)
		}
		begin := make(chan struct{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				<-begin
				if _, ended := s.shouldSlow(later, true); ended {
					t.Error("it has ended though it has just begun")
				}
			})
		}
		close(begin)
		all.Wait()
		if t.Failed() {
			return
		}
	}
}
