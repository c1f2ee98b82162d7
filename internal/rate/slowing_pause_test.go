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
		var s slowing
		for range 100 {
			s.slow(time.Hour, false)
		}
		s.slow(time.Hour, true)
		later := time.Hour + slowingDay + time.Hour
		for range 100 {
			s.slow(later, false)
		}
		begin := make(chan struct{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				<-begin
				if _, ended := s.slow(later, true); ended {
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
