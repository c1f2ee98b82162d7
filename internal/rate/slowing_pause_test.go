package rate

import (
	"sync"
	"testing"
	"time"
)

// TestSlowingAfterPauseIsConcurrent sends concurrent requests over the rate after a pause. For all
// of them a new slowing begins.
func TestSlowingAfterPauseIsConcurrent(t *testing.T) {
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
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				<-begin
				if _, ended := s.shouldSlow(later, true); ended {
					t.Error("the new slowing has already ended")
				}
			})
		}
		close(begin)
		group.Wait()
		if t.Failed() {
			return
		}
	}
}
