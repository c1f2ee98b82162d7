package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestRobotsFetchesInOrder compares the ledger with a naive count, whatever the time at which
// requests are counted.
func TestRobotsFetchesInOrder(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := newClock()
		l := New(c.now)
		requests, sinceRead, read := uint64(0), uint64(0), 0
		for range 3 * bufferRequests {
			switch random.IntN(12) {
			case 0:
				read++
				l.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: read})
				sinceRead = 0
			case 1:
				c.advance(time.Duration(random.IntN(3)) * time.Millisecond)
			case 2:
				l.flush()
			default:
				l.Record(gptbot(c.now(), "/"))
				requests++
				sinceRead++
			}
		}
		s := l.Snapshot()
		w := s.row(t, "example.com", "GPTBot")
		if got := s.total(); got.TotalRequests() != requests || w.RequestsSinceFetch != sinceRead || read > 0 && w.RobotsFetch.Status != read {
			t.Fatalf("seed %d: %d requests, %d of them since %+v; want %d and %d since fetch %d",
				seed, got.TotalRequests(), w.RequestsSinceFetch, w.RobotsFetch, requests, sinceRead, read)
		}
	}
}

// TestFetchedVersion checks the version that a crawler had fetched at the time of a request. A
// later fetch does not change it.
func TestFetchedVersion(t *testing.T) {
	old, current := Version{9}, Version{1} // gptbot is judged by the latter
	for _, tc := range []struct {
		name    string
		fetches []Version // before the request
		want    FetchedVersion
	}{
		{"it never fetched", nil, NeverFetched},
		{"it fetched the old version", []Version{old}, OldVersion},
		{"it fetched both", []Version{old, current}, CurrentVersion},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newClock()
			c.advance(-2 * time.Hour) // the version is an hour old at noon
			l := New(c.now)
			for _, v := range tc.fetches {
				l.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: 200, Version: v})
			}
			c.set(noon)
			l.Record(gptbot(c.now(), "/"))
			c.advance(time.Hour)
			l.Record(gptbot(c.now(), "/later"))
			l.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: 200, Version: current})
			for _, sample := range l.Snapshot().row(t, "example.com", "GPTBot").Samples {
				if sample.FetchedVersion != tc.want {
					t.Errorf("%s at %s: %s is known, want %s", sample.Path, FromUnixMilli(sample.At), sample.FetchedVersion, tc.want)
				}
			}
		})
	}
}

// TestCrawlerWithoutRequests keeps the row of a crawler that sends no counted requests, until
// the retention has passed since the crawler was last seen.
func TestCrawlerWithoutRequests(t *testing.T) {
	for name, count := range map[string]func(*Ledger, *Request){
		"robots fetches": func(l *Ledger, q *Request) {
			l.RecordRobotsFetch(q, RobotsFetch{At: q.unixMilli(), Status: 200})
		},
		"responses": func(l *Ledger, q *Request) {
			l.RecordResponse(&Response{At: q.At, Site: q.Site, Token: q.Token, Class: q.Class, Identity: q.Identity})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			l := New(c.now)
			for range 100 {
				c.advance(24 * time.Hour)
				count(l, gptbot(c.now(), "/"))
				l.Snapshot()
			}
			count(l, gptbot(c.now().Add(-time.Hour), "/"))
			w := l.Snapshot().row(t, "example.com", "GPTBot")
			if first := FromUnixMilli(w.FirstSeen); !first.Equal(noon.Add(24*time.Hour)) || w.LastSeen != c.now().UnixMilli() {
				t.Errorf("seen from %s to %s", first, FromUnixMilli(w.LastSeen))
			}
			c.advance(MaxRetention + 2*time.Minute)
			if s := l.Snapshot(); len(s.Sites) > 0 {
				t.Errorf("%d sites after the retention", len(s.Sites))
			}
		})
	}
}

// TestLastRobotsFetch finds the fetches of crawlers with a row of their own.
func TestLastRobotsFetch(t *testing.T) {
	c := newClock()
	l := New(c.now)
	ask := func(site, token string) *Request {
		q := gptbot(c.now(), "/")
		q.Site, q.Token = site, token
		record(l, q)
		return q
	}
	check := func(q *Request, want RobotsFetch, wantRow bool) {
		t.Helper()
		if got, ok := l.LastRobotsFetch(q); got != want || ok != wantRow {
			t.Errorf("%s at %s: %+v, %t; want %+v, %t", q.Token, q.Site, got, ok, want, wantRow)
		}
	}
	q := gptbot(c.now(), "/")
	l.Record(q)
	check(q, RobotsFetch{}, true)
	fetch := RobotsFetch{At: c.now().UnixMilli(), Status: 200, Version: Version{1}}
	l.RecordRobotsFetch(q, fetch)
	check(q, fetch, true)
	for i := range maxRows {
		ask("example.com", fmt.Sprint("bot", i))
	}
	check(ask("example.com", "late"), RobotsFetch{}, false)
	for _, q := range []*Request{ask("example.com", Other), ask(Other, "GPTBot")} {
		l.RecordRobotsFetch(q, fetch)
		check(q, RobotsFetch{}, false)
	}
	unseen := *q
	unseen.Site = "example.org"
	check(&unseen, RobotsFetch{}, false)
}
