package ledger

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestLedgerCrowd gives the rows to those that the owner names, then as
// crawlers come; nothing is lost of all others.
func TestLedgerCrowd(t *testing.T) {
	c := newClock()
	l := New(c.now)
	ask := func(token string, named bool) {
		q := gptbot(c.now(), "/")
		q.Token, q.NamedByRobots = token, named
		record(l, q)
	}
	for i := range 200 {
		ask(fmt.Sprint("bot", i), false)
	}
	for i := range 100 {
		ask(fmt.Sprint("named", i), true)
	}
	s := l.Snapshot()
	if own, all := s.Sites[0].unsharedRowCount(), s.total(); own != maxRows || all.TotalRequests() != 300 {
		t.Errorf("%d rows and %d requests, want %d and 300", own, all.TotalRequests(), maxRows)
	}
	s.row(t, "example.com", "bot35")
	s.row(t, "example.com", "named11")
	if got := s.row(t, "example.com", Other).RequestsSinceFetch; got != 300-maxRows {
		t.Errorf("%d requests of others, want %d", got, 300-maxRows)
	}
	c.advance(23 * time.Hour)
	ask("bot0", false)
	c.advance(2 * time.Hour)
	ask("late", false)
	s = l.Snapshot()
	s.row(t, "example.com", "late")
	s.row(t, "example.com", "bot0")
	if own, all := s.Sites[0].unsharedRowCount(), s.total(); own != maxRows || all.TotalRequests() != 302 {
		t.Errorf("%d rows and %d requests, want %d and 302", own, all.TotalRequests(), maxRows)
	}
}

// TestRoomComesBack gives a row to a crawler that found no room as soon as there is some:
// the robots.txt names another, or another was not seen for long.
func TestRoomComesBack(t *testing.T) {
	c := newClock()
	l := New(c.now)
	ask := func(token string, named bool) {
		q := gptbot(c.now(), "/")
		q.Token, q.NamedByRobots = token, named
		record(l, q)
	}
	rows := func() (tokens []string) {
		for _, w := range l.Snapshot().Sites[0].Rows {
			tokens = append(tokens, w.Token)
		}
		return tokens
	}
	for i := range maxRows - reservedRows {
		c.advance(time.Second)
		ask(fmt.Sprint("bot", i), false)
	}
	for range 2 {
		if ask("late", false); slices.Contains(rows(), "late") {
			t.Fatal("there is room for more than the share of the unnamed")
		}
	}
	ask("bot9", true)
	if ask("late", false); !slices.Contains(rows(), "late") {
		t.Error("there is no room after another was named")
	}
	for range 2 {
		if ask("later", false); slices.Contains(rows(), "later") {
			t.Fatal("there is room for more than the share of the unnamed")
		}
	}
	c.advance(minIdleToLoseRow - time.Duration(maxRows-reservedRows)*time.Second + 2*time.Second)
	if ask("later", false); !slices.Contains(rows(), "later") || slices.Contains(rows(), "bot0") {
		t.Error("a crawler that was not seen for long makes no room")
	}
}

// TestUnnamedTakesNoNamedRow fills a site with rows. Named crawlers then are idle for longest, but a
// crawler that robots.txt does not name can only get the row of another one.
func TestUnnamedTakesNoNamedRow(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		named, idle, unnamed int // idle are unnamed crawlers that do not return
		wantRow              bool
	}{
		{"an unnamed crawler is idle", reservedRows, 1, maxRows - reservedRows - 1, true},
		{"only named crawlers are idle", reservedRows, 0, maxRows - reservedRows, false},
		{"fewer named crawlers than reserved rows", 1, 0, maxRows - reservedRows, false},
		{"all rows are named", maxRows, 0, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newClock()
			l := New(c.now)
			ask := func(token string, named bool) {
				q := gptbot(c.now(), "/")
				q.Token, q.NamedByRobots = token, named
				record(l, q)
			}
			for i := range tc.named {
				ask(fmt.Sprint("named", i), true)
			}
			c.advance(time.Second)
			for i := range tc.idle {
				ask(fmt.Sprint("idle", i), false)
			}
			for range 2 {
				for i := range tc.unnamed {
					ask(fmt.Sprint("bot", i), false)
				}
				c.advance(minIdleToLoseRow + time.Minute)
			}
			c.advance(-time.Hour) // The unnamed crawlers that returned are idle for 23 hours.
			for range 2 {
				ask("late", false)
			}
			site := l.Snapshot().Sites[0]
			for i := range tc.named {
				if !slices.ContainsFunc(site.Rows, func(w *Row) bool { return w.Token == fmt.Sprint("named", i) }) {
					t.Errorf("named%d has lost its row", i)
				}
			}
			if got := slices.ContainsFunc(site.Rows, func(w *Row) bool { return w.Token == "late" }); got != tc.wantRow {
				t.Errorf("the late crawler has a row: %t, want %t", got, tc.wantRow)
			}
		})
	}
}

// TestNamedWithoutRequests reserves rows for crawlers that robots.txt names, and leaves the other rows
// to unnamed crawlers, whether the named ones request pages or not.
func TestNamedWithoutRequests(t *testing.T) {
	for name, count := range map[string]func(*Ledger, *Request){
		"requests": (*Ledger).Record,
		"robots fetches": func(l *Ledger, q *Request) {
			l.RecordRobotsFetch(q, RobotsFetch{At: q.unixMilli(), Status: 200})
		},
		"responses": func(l *Ledger, q *Request) {
			l.RecordResponse(&Response{At: q.At, Site: q.Site, Token: q.Token, NamedByRobots: q.NamedByRobots, Class: q.Class, Identity: q.Identity})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			l := New(c.now)
			for i := range maxRows - reservedRows {
				q := gptbot(c.now(), "/")
				q.Token = fmt.Sprint("named", i)
				count(l, q)
				l.flush()
			}
			q := gptbot(c.now(), "/")
			q.Token, q.NamedByRobots = "unnamed", false
			record(l, q)
			s := l.Snapshot()
			if !s.row(t, "example.com", "named0").NamedByRobots {
				t.Error("named0 counts as not named")
			}
			s.row(t, "example.com", "unnamed")
		})
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
			q.Token, q.NamedByRobots, q.Class = crawler.Token, i%3 == 0, max(crawler.Class, uaident.Other)
			q.Identity = verify.States()[i%4]
			q.UserAgent = fmt.Sprint("x", i, long)
			q.Rule = Rule{Version: Version{byte(i >> 6), byte(i >> 14)}, Line: i, Text: fmt.Sprint("Disallow: /", i, long), Group: long}
			q.GroupLine = i + 1
			q.Network = addr.NetworkOfAddr(netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}))
			l.Record(q)
			l.RecordResponse(&Response{At: q.At, Site: q.Site, Token: q.Token, NamedByRobots: q.NamedByRobots, Class: q.Class, Identity: q.Identity,
				Kind: responseaudit.RequestKind(i % int(responseaudit.NumRequestKinds)), Status: responseaudit.StatusClass(i % int(responseaudit.NumStatusClasses)), Bytes: 1 << 40})
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
	if len(s.Sites) != 1 || s.Sites[0].unsharedRowCount() > maxRows || len(s.Sites[0].Rows) > maxRows+16*len(verify.States()) {
		t.Fatalf("%d sites, %d rows", len(s.Sites), len(s.Sites[0].Rows))
	}
	if grown > 4<<20 {
		t.Errorf("%d inventions took %d KiB more", n, grown>>10)
	}
	for _, w := range s.Sites[0].Rows {
		if len(w.Paths.Items) > maxPaths || len(w.Samples) > maxSamples || len(w.UserAgents.Items) > maxUserAgents {
			t.Errorf("%s keeps %d paths", w.Token, len(w.Paths.Items))
		}
		for _, item := range w.Paths.Items {
			if len(item.Key.Path) > maxTargetBytes || len(item.Key.Text) > maxRuleBytes {
				t.Fatalf("%d bytes of a path are kept", len(item.Key.Path))
			}
		}
	}
	data, err := StoredSite{Saved: noon, Site: s.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeStoredSite(data); err != nil {
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
	if got := s.total(); len(s.Sites) > maxSites+1 || rows > maxAllRows+len(s.Sites) || got.TotalRequests() != 12*maxSites {
		t.Errorf("%d sites, %d rows, %d requests", len(s.Sites), rows, got.TotalRequests())
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

// TestLedgerOfManySites takes as much memory for 100,000 sites as for a thousand.
func TestLedgerOfManySites(t *testing.T) {
	const perSite = 2
	day := func(sites int) (kept int64) {
		c, empty := newClock(), heap()
		l := New(c.now)
		for site := range sites {
			for i := range perSite {
				q := gptbot(c.now().Add(time.Duration(i-perSite)*time.Hour), "/")
				q.Site, q.Token = fmt.Sprintf("site%d.example.com", site), fmt.Sprint("bot", i)
				l.Record(q)
				l.RecordResponse(&Response{At: q.At, Site: q.Site, Token: q.Token, Status: responseaudit.StatusSuccess, Bytes: 1024})
			}
		}
		l.flush()
		kept = int64(heap()) - int64(empty)
		if got := l.Snapshot().total(); got.TotalRequests() != uint64(sites*perSite) {
			t.Errorf("%d sites: %d requests were counted, want %d", sites, got.TotalRequests(), sites*perSite)
		}
		t.Logf("%d sites take %d KiB", sites, kept>>10)
		return kept
	}
	many := 100_000
	if raceEnabled {
		many = 5_000
	}
	thousand := day(1000)
	if all := day(many); all > thousand+thousand/4+1<<20 {
		t.Errorf("%d sites take %d KiB, a thousand %d KiB", many, all>>10, thousand>>10)
	}
}
