package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

func (c *clock) set(at time.Time)        { c.at.Store(at.UnixNano()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }
func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }

// gptbot is a request outside robots.txt.
func gptbot(at time.Time, target string) *Request {
	return &Request{
		At: at, Site: "example.com", Token: "GPTBot", Named: true, Class: uaident.AITraining, Verdict: Disallowed, Action: Logged,
		WouldBlock: true, Method: "GET", Target: target, UserAgent: "GPTBot/1.3", Network: netip.MustParsePrefix("192.0.2.0/24"),
		Rule: Rule{Version: Version{1}, Line: 6, Text: "Disallow: /", Group: "GPTBot"}, GroupLine: 5, Since: noon.Add(-time.Hour),
	}
}

// record takes note of a request and counts it: buffers are counted in any
// order.
func record(l *Ledger, q *Request) {
	l.Record(q)
	l.flush()
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
func (s Snapshot) total() (sum Counts) {
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
	l.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: 200, Version: Version{1}})
	for range 3 {
		c.advance(time.Second)
		record(l, gptbot(c.now(), "/a"))
	}
	c.advance(time.Hour)
	stale := gptbot(c.now(), "/b")
	stale.Verdict, stale.Action, stale.WouldBlock = Stale, None, false
	record(l, stale)
	blocked := gptbot(c.now(), "/c")
	blocked.Action, blocked.WouldBlock = Blocked, false
	record(l, blocked)

	s := l.Snapshot()
	w := s.row(t, "example.com", "GPTBot")
	if got := s.total(); got != (Counts{Disallowed: 5, Stale: 1, CountBlocked: 1, CountWouldBlock: 4}) {
		t.Errorf("counted %v", got)
	}
	if w.SinceRead != 5 || w.Read == nil || w.Read.Status != 200 {
		t.Errorf("%d requests since %+v, want 5", w.SinceRead, w.Read)
	}
	if !Time(w.FirstSeen).Equal(noon) || !Time(w.LastSeen).Equal(c.now()) || w.LastAction != Blocked {
		t.Errorf("seen from %s to %s, then %s", Time(w.FirstSeen), Time(w.LastSeen), w.LastAction)
	}
	var paths []string
	for _, item := range w.Paths.Items {
		paths = append(paths, fmt.Sprintf("%s %s %d", item.Key.Path, item.Key.Verdict, item.Count))
	}
	if got := strings.Join(paths, ", "); got != "/a disallowed 4, /b stale 1, /c disallowed 1" {
		t.Errorf("paths: %s", got)
	}
	if len(w.Rules.Items) != 2 || len(w.Networks.Items) != 1 || w.Networks.Items[0].Count != 5 || w.Agents.Items[0].Count != 6 {
		t.Errorf("rules %v, networks %v, agents %v", w.Rules.Items, w.Networks.Items, w.Agents.Items)
	}
	var samples []string
	for _, sample := range w.Samples {
		samples = append(samples, fmt.Sprintf("%s %s %s", sample.Path, sample.Action, sample.Known))
	}
	if got := strings.Join(samples, ", "); got != "/a logged never, /a logged current, /c blocked current" {
		t.Errorf("samples: %s", got)
	}
	if files := s.Sites[0].Files; len(files) != 1 || files[0].Lines[5] != 6 || files[0].Lines[6] != 6 {
		t.Errorf("lines: %v", files)
	}
}

// TestLedgerForgets keeps nothing for longer than it should.
func TestLedgerForgets(t *testing.T) {
	c := newClock()
	l := New(c.now)
	l.Retain(48 * time.Hour)
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
	if got := l.Snapshot().total(); got.Requests() != 1 {
		t.Errorf("%d requests after everything was forgotten, want 1", got.Requests())
	}
	for _, tc := range []struct{ set, want time.Duration }{{0, MaxRetention}, {MaxRetention + 1, MaxRetention}, {time.Hour, time.Hour}} {
		if l.Retain(tc.set); time.Duration(l.retention.Load()) != tc.want {
			t.Errorf("Retain(%v) keeps for %v, want %v", tc.set, time.Duration(l.retention.Load()), tc.want)
		}
	}
}

// TestLedgerCrowd gives the rows to those that the owner names, then as
// crawlers come; nothing is lost of all others.
func TestLedgerCrowd(t *testing.T) {
	c := newClock()
	l := New(c.now)
	ask := func(token string, named bool) {
		q := gptbot(c.now(), "/")
		q.Token, q.Named = token, named
		record(l, q)
	}
	for i := range 200 {
		ask(fmt.Sprint("bot", i), false)
	}
	for i := range 100 {
		ask(fmt.Sprint("named", i), true)
	}
	s := l.Snapshot()
	if own, all := s.Sites[0].own(), s.total(); own != maxRows || all.Requests() != 300 {
		t.Errorf("%d rows and %d requests, want %d and 300", own, all.Requests(), maxRows)
	}
	s.row(t, "example.com", "bot35")
	s.row(t, "example.com", "named11")
	if got := s.row(t, "example.com", Other).SinceRead; got != 300-maxRows {
		t.Errorf("%d requests of others, want %d", got, 300-maxRows)
	}
	c.advance(23 * time.Hour)
	ask("bot0", false)
	c.advance(2 * time.Hour)
	ask("late", false)
	s = l.Snapshot()
	s.row(t, "example.com", "late")
	s.row(t, "example.com", "bot0")
	if own, all := s.Sites[0].own(), s.total(); own != maxRows || all.Requests() != 302 {
		t.Errorf("%d rows and %d requests, want %d and 302", own, all.Requests(), maxRows)
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
			if n := counts.Requests(); n < last {
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
					l.RecordRead(q, Read{At: q.At.UnixMilli(), Status: 200})
				}
			}
		})
	}
	all.Wait()
	close(stop)
	readers.Wait()
	s := l.Snapshot()
	if got := s.total(); got.Requests() != writers*each {
		t.Errorf("%d requests, want %d", got.Requests(), writers*each)
	}
	for _, site := range s.Sites {
		sum := site.Rows[0].Series[Minutes].Sum(Minutes, noon, c.now())
		if hits := site.Files[0].Lines[6]; hits != sum.Requests() {
			t.Errorf("%s: line 6 was hit %d times by %d requests", site.Name, hits, sum.Requests())
		}
	}
}

// TestLedgerHostile takes no more memory than it says, whatever clients invent.
func TestLedgerHostile(t *testing.T) {
	c := newClock()
	l := New(c.now)
	empty := heap()
	crawlers := uaident.Default().Crawlers()
	random := rand.New(rand.NewPCG(1, 2))
	long := strings.Repeat("%20\x00\"", 60)
	attack := func(n int, span time.Duration) {
		for i := range n {
			q := gptbot(c.now().Add(-time.Duration(random.Int64N(int64(span)))), fmt.Sprint("/", i, long))
			crawler := &crawlers[i%len(crawlers)]
			q.Token, q.Named, q.Class = crawler.Token, i%3 == 0, max(crawler.Class, uaident.Other)
			q.Identity = Identity(i % int(numIdentities))
			q.UserAgent = fmt.Sprint("x", i, long)
			q.Rule = Rule{Version: Version{byte(i >> 6), byte(i >> 14)}, Line: i, Text: fmt.Sprint("Disallow: /", i, long), Group: long}
			q.GroupLine = i + 1
			q.Network = Network(netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}))
			l.Record(q)
		}
		l.flush()
	}
	n := 100_000
	if raceEnabled {
		n = 3_000
	}
	attack(n/5, MaxRetention) // fills all series
	before := heap()
	attack(n, time.Hour)
	if used := int64(heap()) - int64(empty); used > 8<<20 {
		t.Errorf("a site takes %d KiB, more than the 8 MB in docs/admin.md", used>>10)
	}
	grown := int64(heap()) - int64(before)
	s := l.Snapshot()
	if len(s.Sites) != 1 || s.Sites[0].own() > maxRows || len(s.Sites[0].Rows) > maxRows+16*int(numIdentities) {
		t.Fatalf("%d sites, %d rows", len(s.Sites), len(s.Sites[0].Rows))
	}
	if grown > 4<<20 {
		t.Errorf("%d inventions took %d KiB more", n, grown>>10)
	}
	for _, w := range s.Sites[0].Rows {
		if len(w.Paths.Items) > maxPaths || len(w.Samples) > maxSamples || len(w.Agents.Items) > maxAgents {
			t.Errorf("%s keeps %d paths", w.Token, len(w.Paths.Items))
		}
		for _, item := range w.Paths.Items {
			if len(item.Key.Path) > maxTarget || len(item.Key.Text) > maxRule {
				t.Fatalf("%d bytes of a path are kept", len(item.Key.Path))
			}
		}
	}
	data, err := Stored{Saved: noon, Site: s.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeStored(data); err != nil {
		t.Errorf("the largest site cannot be read again: %v", err)
	}
	t.Logf("%d rows, %d KiB stored, heap %d KiB", len(s.Sites[0].Rows), len(data)>>10, heap()>>10)
	runtime.KeepAlive(l)
}

// TestLedgerSites bounds the sites and the rows of all of them.
func TestLedgerSites(t *testing.T) {
	c := newClock()
	l := New(c.now)
	for i := range 2 * maxSites {
		for k := range 6 {
			q := gptbot(c.now(), "/")
			q.Site, q.Token = fmt.Sprint("site", i), fmt.Sprint("bot", k)
			q.Class = uaident.Classes()[1+k]
			l.Record(q)
		}
	}
	s := l.Snapshot()
	rows := 0
	for _, site := range s.Sites {
		rows += len(site.Rows)
	}
	if got := s.total(); len(s.Sites) > maxSites+1 || rows > maxAllRows+len(s.Sites) || got.Requests() != 12*maxSites {
		t.Errorf("%d sites, %d rows, %d requests", len(s.Sites), rows, got.Requests())
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLedgerKeepsNothingOfTheRequest gives back the memory of requests.
func TestLedgerKeepsNothingOfTheRequest(t *testing.T) {
	c := newClock()
	l := New(c.now)
	before := heap()
	for i := range 500 {
		file := strings.Repeat("x", 100<<10)
		q := gptbot(c.now().Add(time.Duration(i)*time.Minute), file[:100])
		q.Site, q.Token, q.UserAgent, q.Method = file[:20], file[:10], file[:30], file[:3]
		q.Rule.Text, q.Rule.Group = file[:40], file[:8]
		q.Rule.Line = i
		l.Record(q)
	}
	l.flush()
	if grown := int64(heap()) - int64(before); grown > 2<<20 {
		t.Errorf("%d KiB are kept of 500 requests", grown>>10)
	}
	runtime.KeepAlive(l)
}

// TestStored is known again after a restart, and adds up.
func TestStored(t *testing.T) {
	c := newClock()
	l := New(c.now)
	for i := range 200 {
		q := gptbot(c.now().Add(-time.Duration(i)*time.Hour), fmt.Sprint("/", i%40, "<é>"))
		q.Identity = Identity(i % 4)
		record(l, q)
	}
	l.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: 200, Version: Version{1}})
	before := l.Snapshot()
	data, err := Stored{Since: Time(before.Since), Saved: c.now(), Site: before.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStored(data)
	if err != nil {
		t.Fatal(err)
	}
	c.advance(time.Hour)
	again := New(c.now)
	record(again, gptbot(c.now(), "/new"))
	again.Restore(stored.Site, stored.Since)
	got := again.Snapshot()
	if sum := got.total(); sum.Requests() != 201 || got.Since != before.Since {
		t.Errorf("%d requests since %s, want 201", sum.Requests(), Time(got.Since))
	}
	if w := got.row(t, "example.com", "GPTBot"); w.Read == nil || w.Read.Version != (Version{1}) {
		t.Errorf("the reading is %+v", w.Read)
	}
	fresh := New(c.now)
	fresh.Restore(stored.Site, stored.Since)
	c.advance(-time.Hour)
	if a, b := asJSON(t, before.Sites), asJSON(t, fresh.Snapshot().Sites); a != b {
		t.Errorf("stored:\n%s\nrestored:\n%s", a, b)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestMerge adds up what several instances have counted.
func TestMerge(t *testing.T) {
	c := newClock()
	first, second := New(c.now), New(c.now)
	record(first, gptbot(c.now(), "/a"))
	first.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: 200})
	c.advance(time.Minute)
	second.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: 304})
	for _, path := range []string{"/a", "/b"} {
		record(second, gptbot(c.now(), path))
	}
	other := gptbot(c.now(), "/a")
	other.Site = "example.org"
	record(second, other)
	a, b := first.Snapshot(), second.Snapshot()
	before := asJSON(t, []Snapshot{a, b})
	merged := Merge(a, b)
	if got := merged.total(); got.Requests() != 4 || len(merged.Sites) != 2 || merged.Since != noon.UnixMilli() {
		t.Errorf("%d requests at %d sites since %s", got.Requests(), len(merged.Sites), Time(merged.Since))
	}
	w := merged.row(t, "example.com", "GPTBot")
	if len(w.Paths.Items) != 2 || w.Paths.Items[0].Count != 2 || w.Read.Status != 304 || w.SinceRead != 2 {
		t.Errorf("paths %v, %d requests since %v", w.Paths.Items, w.SinceRead, w.Read)
	}
	if merged.Sites[0].Files[0].Lines[6] != 3 {
		t.Errorf("line 6 was hit %d times, want 3", merged.Sites[0].Files[0].Lines[6])
	}
	if asJSON(t, []Snapshot{a, b}) != before {
		t.Error("merging has changed a snapshot")
	}
	if got := Merge(); got.Sites != nil || got.Since != 0 {
		t.Errorf("nothing merged is %+v", got)
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

// TestRestoreBounds keeps within the bounds whatever was stored.
func TestRestoreBounds(t *testing.T) {
	c := newClock()
	full := New(c.now)
	for k := range maxRows {
		q := gptbot(c.now(), "/")
		q.Token = fmt.Sprint("bot", k)
		record(full, q)
	}
	site := full.Snapshot().Sites[0]
	l := New(c.now)
	const sites = 2 * maxAllRows / maxRows
	for i := range sites {
		copied := site.clone()
		copied.Name = fmt.Sprint("site", i)
		l.Restore(copied, noon)
	}
	s := l.Snapshot()
	rows := 0
	for _, site := range s.Sites {
		rows += len(site.Rows)
	}
	if got := s.total(); rows > maxAllRows+sites || got.Requests() != sites*maxRows {
		t.Errorf("%d rows, %d requests; want at most %d and %d", rows, got.Requests(), maxAllRows+sites, sites*maxRows)
	}
}
