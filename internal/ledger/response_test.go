package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// answered is an answer to GPTBot at example.com.
func answered(at time.Time, status responseaudit.StatusClass, bytes int64) *Response {
	return &Response{At: at, Site: "example.com", Token: "GPTBot", Class: uaident.AITraining, Identity: verify.Claimed, Status: status, Bytes: bytes}
}

// TestAnswers counts answers with the row of their crawler, whichever is counted first,
// and keeps them through storage and other instances.
func TestAnswers(t *testing.T) {
	c := newClock()
	l := New(c.now)
	for i := range 100 {
		l.RecordResponse(answered(c.now(), responseaudit.StatusSuccess, 1<<30))
		l.Record(gptbot(c.now(), fmt.Sprint("/", i)))
	}
	l.RecordResponse(answered(c.now().Add(-time.Hour), responseaudit.StatusRefused, -1))
	verified := answered(c.now(), responseaudit.StatusServerError, 5)
	verified.Identity, verified.Kind = verify.Verified, responseaudit.KindRobotsTxt
	l.RecordResponse(verified)

	s := l.Snapshot()
	if len(s.Sites) != 1 || len(s.Sites[0].Rows) != 2 {
		t.Fatalf("%+v", s.Sites)
	}
	check := func(when string, s *Site, times uint64) {
		t.Helper()
		for _, row := range s.Rows {
			for _, r := range []Resolution{Hours, Days} {
				sum := row.SumResponses(r, noon.Add(-24*time.Hour), c.now())
				want := responseaudit.ResponseCounts{Bytes: times * 100 << 30}
				want.ByKindAndStatus[responseaudit.KindAllowed] = [responseaudit.NumStatusClasses]uint64{responseaudit.StatusSuccess: times * 100, responseaudit.StatusRefused: times}
				if row.Identity == verify.Verified {
					want = responseaudit.ResponseCounts{Bytes: times * 5}
					want.ByKindAndStatus[responseaudit.KindRobotsTxt][responseaudit.StatusServerError] = times
				}
				if sum != want {
					t.Errorf("%s: %s, step %v: %+v, want %+v", when, row.Identity, r.StepLength(), sum, want)
				}
			}
		}
	}
	check("counted", s.Sites[0], 1)
	data, err := StoredSite{Since: noon, Saved: noon, Site: s.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	check("stored", stored.Site, 1)
	check("merged", Merge(s, Snapshot{Sites: []*Site{stored.Site}}).Sites[0], 2)
	check("and left as they were", s.Sites[0], 1)
	l.RestoreSite(stored.Site, noon)
	check("restored", l.Snapshot().Sites[0], 2)

	c.advance(ResponseHours * time.Hour)
	l.Record(gptbot(c.now(), "/"))
	for _, row := range l.Snapshot().Sites[0].Rows {
		if n := len(row.Responses.Series(Hours)); n > 0 {
			t.Errorf("%d hours are kept after %d", n, ResponseHours)
		}
		if len(row.Responses.Series(Days)) == 0 {
			t.Error("no day is kept")
		}
	}
}

// TestAnswersLate counts what comes in another order, and drops what is too old.
func TestAnswersLate(t *testing.T) {
	var w Row
	for _, hours := range []int{0, -2, -1, -47, -48, -2, 1, -47} {
		w.countResponse(&Response{Status: responseaudit.StatusNotFound, At: noon.Add(time.Duration(hours) * time.Hour)})
	}
	var got []string
	for _, c := range w.Responses.Series(Hours) {
		counts := c.Counts()
		got = append(got, fmt.Sprint(c.StartTime(Hours).Sub(noon).Hours(), ":", counts.Total()))
	}
	if want := "[-2:2 -1:1 0:1 1:1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAnswersStop keeps counts that are as large as they can be.
func TestAnswersStop(t *testing.T) {
	var most ResponseBucket
	for i := range most {
		most[i] = 1<<32 - 1
	}
	c := most
	c.addCounts(&most)
	if c != most {
		t.Errorf("%v", c)
	}
}

func BenchmarkRecordAnswer(b *testing.B) {
	l := New(time.Now)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		a := answered(time.Now(), responseaudit.StatusSuccess, 1234)
		for pb.Next() {
			l.RecordResponse(a)
		}
	})
}
