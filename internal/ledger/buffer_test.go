package ledger

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestRecordWaitsForNobody takes note of requests while somebody else, who has
// lost the processor, holds a lock.
func TestRecordWaitsForNobody(t *testing.T) {
	for _, tc := range []struct {
		name string
		hold func(*Ledger) (release func())
	}{
		{"others count, or read the ledger", func(l *Ledger) func() {
			l.mu.Lock()
			return l.mu.Unlock
		}},
		{"others take note", func(l *Ledger) func() {
			others := l.buffers.all[1:]
			for _, b := range others {
				b.mu.Lock()
			}
			return func() {
				for _, b := range others {
					b.mu.Unlock()
				}
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := New(newClock().now)
			const requests = 10 * bufferRequests
			release := tc.hold(l)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := range requests {
					l.Record(gptbot(noon, fmt.Sprint("/", i)))
				}
			}()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Error("a request waits")
			}
			release()
			<-done
			if got := l.Snapshot().total(); got.Requests() != requests {
				t.Errorf("%d requests were counted, want %d", got.Requests(), requests)
			}
		})
	}
}

// TestReadersSeeWhatCameBefore reads what was recorded at once, while others
// record and count.
func TestReadersSeeWhatCameBefore(t *testing.T) {
	const writers, rounds = 8, 40
	l := New(newClock().now)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			site := fmt.Sprint("site", i)
			for n := range uint64(rounds) {
				for range bufferRequests/2 + 1 {
					q := gptbot(noon, "/")
					q.Site = site
					l.Record(q)
				}
				for _, s := range l.Snapshot().Sites {
					if got, want := s.Rows[0].SinceRead, (n+1)*(bufferRequests/2+1); s.Name == site && got != want {
						t.Errorf("%s: %d requests, want %d", site, got, want)
					}
				}
			}
		})
	}
	all.Wait()
}

// TestPendingIsBounded takes no more requests than the buffers hold while nobody
// can count them, and loses none.
func TestPendingIsBounded(t *testing.T) {
	long := strings.Repeat("x", 2*maxAgent)
	for _, tc := range []struct {
		name      string
		userAgent string
		most      int
	}{
		{"short", "GPTBot/1.3", maxPending},
		{"long", long, maxPending * requestBytes / (maxAgent + maxTarget)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := New(newClock().now)
			pendingNow := func() (requests, text int) {
				for _, b := range l.buffers.all {
					b.mu.Lock()
					requests, text = requests+len(b.pending), text+len(b.text)
					b.mu.Unlock()
				}
				return requests, text
			}
			const writers = 4
			l.mu.Lock()
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					for range maxPending {
						q := gptbot(noon, "/"+long)
						q.UserAgent, q.Class = tc.userAgent, uaident.AITraining
						l.Record(q)
					}
				})
			}
			full := func() bool {
				for _, b := range l.buffers.all {
					b.mu.Lock()
					room := b.room(b.most)
					b.mu.Unlock()
					if room {
						return false
					}
				}
				return true
			}
			for deadline := time.Now().Add(60 * time.Second); !full(); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Error("the buffers do not fill")
					break
				}
			}
			requests, text := pendingNow()
			if requests > tc.most || text > maxPending*requestBytes {
				t.Errorf("%d requests with %d bytes wait, want at most %d with %d", requests, text, tc.most, maxPending*requestBytes)
			}
			l.mu.Unlock()
			all.Wait()
			if got := l.Snapshot().total(); got.Requests() != writers*maxPending {
				t.Errorf("%d requests were counted, want %d", got.Requests(), writers*maxPending)
			}
		})
	}
}
