package ledger

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRecordWaitsForNobody takes note of requests and readings while somebody
// else, who has lost the processor, holds a lock.
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
			others := l.buffers.buffers[1:]
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
			s := l.Snapshot()
			if got := s.total(); got.TotalRequests() != requests {
				t.Errorf("%d requests were counted, want %d", got.TotalRequests(), requests)
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
					if got, want := s.Rows[0].RequestsSinceFetch, (n+1)*(bufferRequests/2+1); s.Name == site && got != want {
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
	long := strings.Repeat("x", 2*maxUserAgentBytes)
	for _, tc := range []struct{ name, userAgent, target string }{
		{"short", "GPTBot/1.3", "/"},
		{"long", long, "/" + long},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := gptbot(noon, tc.target)
			q.UserAgent = tc.userAgent
			l := New(newClock().now)
			var fit recordBatch
			for fit.hasRoom(l.buffers.buffers[0].maxRequests) {
				fit.addRequest(q)
			}
			most := int64(len(fit.requests) * len(l.buffers.buffers))
			if most > maxPendingRequests || len(fit.strings)*len(l.buffers.buffers) > maxPendingRequests*maxAverageStringBytes {
				t.Errorf("%d requests of %d bytes fit, want at most %d", most, len(fit.strings)/len(fit.requests), maxPendingRequests)
			}
			l.mu.Lock()
			const requests = 2 * maxPendingRequests
			var recorded atomic.Int64
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range requests {
					l.Record(q)
					recorded.Add(1)
				}
			}()
			for deadline := time.Now().Add(60 * time.Second); recorded.Load() < most; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Errorf("after %d requests there is no room, want %d", recorded.Load(), most)
					break
				}
			}
			for range 100 {
				runtime.Gosched() // it may go on, if it can
			}
			if n := recorded.Load(); n > most {
				t.Errorf("%d requests are noted, want at most %d", n, most)
			}
			l.mu.Unlock()
			<-done
			if got := l.Snapshot().total(); got.TotalRequests() != requests {
				t.Errorf("%d requests were counted, want %d", got.TotalRequests(), requests)
			}
		})
	}
}

// TestLastingUserAgentsAreNotCopied notes requests with User-Agents that may be kept, and
// with others: these are written over.
func TestLastingUserAgentsAreNotCopied(t *testing.T) {
	for _, lasting := range []bool{true, false} {
		l, agent := New(newClock().now), []byte("GPTBot/1.0")
		for i := range 3 * bufferRequests {
			agent[len(agent)-1] = byte('0' + i%8) // more than a row keeps
			q := gptbot(noon, "/")
			q.MayRetainUserAgent, q.UserAgent = lasting, string(agent)
			l.Record(q)
		}
		row := l.Snapshot().row(t, "example.com", "GPTBot")
		seen := make(map[string]bool)
		for _, item := range row.UserAgents.Items {
			seen[item.Key] = strings.HasPrefix(item.Key, "GPTBot/1.")
		}
		if len(seen) != maxUserAgents || len(seen) != len(row.UserAgents.Items) {
			t.Errorf("lasting %v: the row keeps %v", lasting, seen)
		}
		for agent, ok := range seen {
			if !ok {
				t.Errorf("lasting %v: %q was never sent", lasting, agent)
			}
		}
	}
	l, q := New(newClock().now), gptbot(noon, "/")
	q.MayRetainUserAgent, q.UserAgent = true, strings.Repeat("x", 2*maxUserAgentBytes)
	l.Record(q)
	if got := len(l.Snapshot().row(t, "example.com", "GPTBot").UserAgents.Items[0].Key); got != maxUserAgentBytes {
		t.Errorf("%d bytes of a User-Agent are kept, want %d", got, maxUserAgentBytes)
	}
}

// TestFewBuffersAreUsed has requests that meet no others use no more buffers than there are
// processors.
func TestFewBuffersAreUsed(t *testing.T) {
	l := New(newClock().now)
	for i := range bufferRequests / 2 {
		l.Record(gptbot(noon, fmt.Sprint("/", i)))
	}
	used := 0
	for _, b := range l.buffers.buffers {
		if len(b.requests) > 0 {
			used++
		}
	}
	if most := runtime.GOMAXPROCS(0); used == 0 || used > most {
		t.Errorf("%d buffers are in use, want %d at most", used, most)
	}
}
