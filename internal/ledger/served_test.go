package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestServed(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	visit := func(crawler, target string, after time.Duration) CrawlerVisit {
		return CrawlerVisit{Crawler: crawler, GroupNames: []string{crawler}, Host: "example.com", Target: RawText(target), At: start.Add(after)}
	}
	var s VisitedPages
	if got := s.Recent(start); got != nil {
		t.Errorf("%v in an empty record", got)
	}
	s.Record(visit("Googlebot", "/a", 0))
	s.Record(visit("Googlebot", "/b", 0))
	s.Record(visit("bingbot", "/a", time.Hour))
	s.Record(visit("Googlebot", "/a", 2*time.Hour)) // again
	s.Record(visit("Googlebot", "/"+strings.Repeat("x", maxVisitedTargetBytes), 2*time.Hour))
	for _, tc := range []struct {
		after time.Duration
		want  string
	}{
		{2 * time.Hour, "Googlebot/a Googlebot/b bingbot/a"},
		{24*time.Hour - 1, "Googlebot/a Googlebot/b bingbot/a"},
		{24 * time.Hour, "Googlebot/a bingbot/a"},
		{25 * time.Hour, "Googlebot/a"},
		{26 * time.Hour, ""},
	} {
		var got []string
		for _, v := range s.Recent(start.Add(tc.after)) {
			got = append(got, v.Crawler+string(v.Target))
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("after %s: %q, want %q", tc.after, got, tc.want)
		}
	}
}

func TestServedIsBounded(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var s VisitedPages
	for i := range 100 * maxVisits {
		s.Record(CrawlerVisit{Crawler: "Googlebot", Target: RawText(fmt.Sprintf("/%d", i)), At: start.Add(time.Duration(i))})
		if len(s.visits) > maxVisits || len(s.index) != len(s.visits) {
			t.Fatalf("%d visits and %d in the index after %d", len(s.visits), len(s.index), i+1)
		}
	}
	for key, i := range s.index {
		if s.visits[i].Target != key.target {
			t.Errorf("%s is at the place of %s", key.target, s.visits[i].Target)
		}
	}
	// What is out of date makes room at once.
	for i := range maxVisits {
		s.Record(CrawlerVisit{Crawler: "bingbot", Target: RawText(fmt.Sprintf("/%d", i)), At: start.Add(48 * time.Hour)})
	}
	if got := len(s.Recent(start.Add(48 * time.Hour))); got != maxVisits {
		t.Errorf("%d visits of the next day, want %d", got, maxVisits)
	}
}

func TestServedKeepsNothingOfTheRequest(t *testing.T) {
	chain := []string{"Googlebot"}
	var s VisitedPages
	s.Record(CrawlerVisit{Crawler: "Googlebot", GroupNames: chain, Target: "/a", At: time.Unix(1, 0)})
	chain[0] = "another request"
	if got := s.Recent(time.Unix(1, 0))[0].GroupNames[0]; got != "Googlebot" {
		t.Errorf("the chain became %q", got)
	}
}

func BenchmarkServedNote(b *testing.B) {
	targets := make([]string, 1000)
	for i := range targets {
		targets[i] = fmt.Sprintf("/articles/%d", i)
	}
	var s VisitedPages
	chain, now := []string{"Googlebot"}, time.Unix(1, 0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Record(CrawlerVisit{Crawler: "Googlebot", GroupNames: chain, Host: "example.com", Target: RawText(targets[i%len(targets)]), At: now})
	}
}

func TestServedMerge(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	visit := func(target string, ago time.Duration) CrawlerVisit {
		return CrawlerVisit{Crawler: "Googlebot", Target: RawText(target), At: now.Add(-ago)}
	}
	var s VisitedPages
	s.Record(visit("/own", time.Hour))
	news := s.Revision()
	s.Merge([]CrawlerVisit{visit("/own", time.Minute), visit("/theirs", time.Hour), visit("/old", RecentVisitAge), visit("/future", -time.Hour)}, true, now)
	if got := s.Recent(now); len(got) != 2 || !got[0].At.Equal(now.Add(-time.Minute)) {
		t.Errorf("recent are %+v", got)
	}
	if own := s.OwnVisits(now); len(own) != 1 || own[0].Target != "/own" || s.Revision() != news {
		t.Errorf("own are %+v", own)
	}
	s.Record(visit("/theirs", 0))
	if own := s.OwnVisits(now); len(own) != 2 || s.Revision() == news {
		t.Errorf("own are %+v", own)
	}
	s.Merge([]CrawlerVisit{visit("/before", time.Hour)}, false, now)
	if own := s.OwnVisits(now); len(own) != 3 {
		t.Errorf("own are %+v", own)
	}
}
