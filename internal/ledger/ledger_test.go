package ledger

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// clock is a clock that stands still until it is set.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.set(noon)
	return c
}

func (c *clock) set(at time.Time) { c.at.Store(at.UnixNano()) }

func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

func (c *clock) now() time.Time { return time.Unix(0, c.at.Load()).UTC() }

// gptbot is a request disallowed by robots.txt.
func gptbot(at time.Time, target string) *Request {
	return &Request{
		At: at, Site: "example.com", Token: "GPTBot", NamedByRobots: true, Class: uaident.AITraining, Verdict: judge.Disallowed, Action: judge.Logged,
		WouldBlock: true, Method: "GET", Target: target, UserAgent: "GPTBot/1.3", Network: netip.MustParsePrefix("192.0.2.0/24"),
		Rule: Rule{Version: Version{1}, Line: 6, Text: "Disallow: /", Group: "GPTBot"}, GroupLine: 5, VersionFetchedAt: noon.Add(-time.Hour),
	}
}

// record takes note of a request and counts it: buffers are counted in any
// order.
func record(l *Ledger, q *Request) {
	l.Record(q)
	l.flush()
}

// flush counts what is in the buffers.
func (l *Ledger) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countBufferedRecords()
}

// row returns a row of a snapshot.
func (s Snapshot) row(t *testing.T, site, token string) *Row {
	t.Helper()
	for _, known := range s.Sites {
		for _, w := range known.Rows {
			if known.Name == site && w.Token == token {
				return w
			}
		}
	}
	t.Fatalf("no row for %s at %s", token, site)
	return nil
}

// total sums up all requests by days.
func (s Snapshot) total() (sum CounterValues) {
	for _, site := range s.Sites {
		for _, w := range site.Rows {
			sum.Add(w.Series[Days].Sum(Days, time.Time{}, noon.AddDate(1, 0, 0)))
		}
	}
	return sum
}

func TestLedger(t *testing.T) {
	c := newClock()
	l := New(c.now)
	record(l, gptbot(c.now(), "/a"))
	c.advance(time.Minute)
	l.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: 200, Version: Version{1}})
	for range 3 {
		c.advance(time.Second)
		record(l, gptbot(c.now(), "/a"))
	}
	c.advance(time.Hour)
	stale := gptbot(c.now(), "/b")
	stale.Verdict, stale.Action, stale.WouldBlock = judge.Stale, judge.NoAction, false
	record(l, stale)
	blocked := gptbot(c.now(), "/c")
	blocked.Action, blocked.WouldBlock = judge.Blocked, false
	record(l, blocked)

	s := l.Snapshot()
	w := s.row(t, "example.com", "GPTBot")
	if got := s.total(); got != (CounterValues{CountDisallowed: 5, CountStale: 1, CountBlocked: 1, CountWouldBlock: 4, CountViolationBlocked: 1}) {
		t.Errorf("counted %v", got)
	}
	if w.RequestsSinceFetch != 5 || w.RobotsFetch == nil || w.RobotsFetch.Status != 200 {
		t.Errorf("%d requests since %+v, want 5", w.RequestsSinceFetch, w.RobotsFetch)
	}
	if !FromUnixMilli(w.FirstSeen).Equal(noon) || !FromUnixMilli(w.LastSeen).Equal(c.now()) || w.LastAction != judge.Blocked {
		t.Errorf("seen from %s to %s, then %s", FromUnixMilli(w.FirstSeen), FromUnixMilli(w.LastSeen), w.LastAction)
	}
	var paths []string
	for _, item := range w.Paths.Items {
		paths = append(paths, fmt.Sprintf("%s %s %d", item.Key.Path, item.Key.Verdict, item.Count))
	}
	if got := strings.Join(paths, ", "); got != "/a disallowed 4, /b stale 1, /c disallowed 1" {
		t.Errorf("paths: %s", got)
	}
	if len(w.Rules.Items) != 2 || len(w.Networks.Items) != 1 || w.Networks.Items[0].Count != 5 || w.UserAgents.Items[0].Count != 6 {
		t.Errorf("rules %v, networks %v, agents %v", w.Rules.Items, w.Networks.Items, w.UserAgents.Items)
	}
	var samples []string
	for _, sample := range w.Samples {
		samples = append(samples, fmt.Sprintf("%s %s %s", sample.Path, sample.Action, sample.FetchedVersion))
	}
	if got := strings.Join(samples, ", "); got != "/a logged never, /a logged current, /c blocked current" {
		t.Errorf("samples: %s", got)
	}
	if files := s.Sites[0].VersionHits; len(files) != 1 || files[0].Lines[5] != 6 || files[0].Lines[6] != 6 {
		t.Errorf("lines: %v", files)
	}
}

// TestLedgerForgets keeps nothing for longer than it should.
func TestLedgerForgets(t *testing.T) {
	c := newClock()
	l := New(c.now)
	l.SetRetention(48 * time.Hour)
	record(l, gptbot(c.now(), "/a"))
	c.advance(40 * time.Hour)
	record(l, gptbot(c.now(), "/b"))
	c.advance(10 * time.Hour)
	w := l.Snapshot().row(t, "example.com", "GPTBot")
	if len(w.Paths.Items) != 1 || w.Paths.Items[0].Key.Path != "/b" || len(w.Samples) != 1 || len(w.Series[Hours]) != 1 {
		t.Errorf("left are %v, %v and %v", w.Paths.Items, w.Samples, w.Series)
	}
	c.advance(39 * time.Hour)
	if s := l.Snapshot(); len(s.Sites) != 0 {
		t.Errorf("left is %v", s.Sites)
	}
	record(l, gptbot(c.now(), "/c"))
	if got := l.Snapshot().total(); got.TotalRequests() != 1 {
		t.Errorf("%d requests after everything was forgotten, want 1", got.TotalRequests())
	}
	for _, tc := range []struct{ set, want time.Duration }{{0, MaxRetention}, {MaxRetention + 1, MaxRetention}, {time.Hour, time.Hour}} {
		if l.SetRetention(tc.set); time.Duration(l.retention.Load()) != tc.want {
			t.Errorf("Retain(%v) keeps for %v, want %v", tc.set, time.Duration(l.retention.Load()), tc.want)
		}
	}
}

// TestLedgerConcurrency loses nothing while it is read.
func TestLedgerConcurrency(t *testing.T) {
	const writers, each = 8, 2000
	c := newClock()
	c.set(noon.Add(each * time.Second))
	l := New(c.now)
	stop := make(chan struct{})
	var readers, all sync.WaitGroup
	readers.Go(func() {
		for last := uint64(0); ; {
			counts := l.Snapshot().total()
			if n := counts.TotalRequests(); n < last {
				t.Errorf("%d requests after %d", n, last)
			} else {
				last = n
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range writers {
		all.Go(func() {
			for n := range each {
				q := gptbot(noon.Add(time.Duration(n)*time.Second), fmt.Sprint("/", n%50))
				q.Site = fmt.Sprint("site", (i+n)%3)
				l.Record(q)
				if n%500 == 0 {
					l.RecordRobotsFetch(q, RobotsFetch{At: q.At.UnixMilli(), Status: 200})
				}
			}
		})
	}
	all.Wait()
	close(stop)
	readers.Wait()
	s := l.Snapshot()
	if got := s.total(); got.TotalRequests() != writers*each {
		t.Errorf("%d requests, want %d", got.TotalRequests(), writers*each)
	}
	for _, site := range s.Sites {
		sum := site.Rows[0].Series[Minutes].Sum(Minutes, noon, c.now())
		if hits := site.VersionHits[0].Lines[6]; hits != sum.TotalRequests() {
			t.Errorf("%s: line 6 was hit %d times by %d requests", site.Name, hits, sum.TotalRequests())
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	l := New(time.Now)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		q := gptbot(time.Now(), "/articles/1?page=2")
		for i := 0; pb.Next(); i++ {
			if i%64 == 0 {
				q.At = time.Now()
			}
			l.Record(q)
		}
	})
}

// TestLongToken has one row for a crawler whose name is cut.
func TestLongToken(t *testing.T) {
	l := New(newClock().now)
	for range 3 {
		q := gptbot(noon, "/")
		q.Token = strings.Repeat("x", 2*maxTokenBytes)
		record(l, q)
	}
	if rows := l.Snapshot().Sites[0].Rows; len(rows) != 1 || len(rows[0].Token) != maxTokenBytes {
		t.Errorf("%d rows", len(rows))
	}
}
