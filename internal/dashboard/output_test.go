package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// The page learns that nothing has changed without reading it all.
func TestEntityTags(t *testing.T) {
	views := &examples{t: t}
	for _, target := range []string{"/", "/app.js", "/summary.json", "/crawlers.csv", "/evidence.txt?id=GPTBot"} {
		first := ask(views, "GET", target)
		tag := first.Header().Get("ETag")
		if tag == "" {
			t.Errorf("%s has no entity tag", target)
		}
		if again := ask(views, "GET", target, "If-None-Match", tag); again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%s again: got %d and %d bytes", target, again.Code, again.Body.Len())
		}
		if other := ask(views, "GET", target, "If-None-Match", `"other"`); other.Code != 200 {
			t.Errorf("%s with another tag: got %d", target, other.Code)
		}
	}
	tag := ask(views, "GET", "/summary.json").Header().Get("ETag")
	views.change = func(v any) {
		s := v.(*report.Summary)
		s.Generated = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		s.To = s.Generated // The window has not ended.
	}
	later := ask(views, "GET", "/summary.json")
	if later.Header().Get("ETag") != tag || !strings.Contains(later.Body.String(), `"generated": "2030-`) {
		t.Error("a later answer with the same numbers is another one")
	}
	views.change = func(v any) { v.(*report.Summary).Requests++ }
	if ask(views, "GET", "/summary.json").Header().Get("ETag") == tag {
		t.Error("other numbers have the same entity tag")
	}
}

// TestEntityTagsWithoutTraffic requests the views of a real ledger again a second later. The times in
// a view change with the clock, but the entity tag does not.
func TestEntityTagsWithoutTraffic(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 20, 0, 0, time.UTC)
	l := ledger.New(func() time.Time { return now })
	l.RestoreSite(&ledger.Site{Name: "a.test"}, now.Add(-40*24*time.Hour))
	l.Record(&ledger.Request{At: now.Add(-30 * time.Hour), Site: "a.test", Token: "GPTBot", Class: uaident.AITraining, Method: "GET", Target: "/"})
	snapshot := l.Snapshot()
	for _, tc := range []struct {
		name, target string
		retention    time.Duration
		later        time.Duration
		want         int
	}{
		{"an hour", "/summary.json?window=1h", 0, time.Second, 304},
		{"the default window", "/summary.json", 0, time.Second, 304},
		{"a week", "/crawlers.json?window=7d", 0, time.Second, 304},
		{"a window that counting began in", "/summary.json?from=2026-10-01T00:00:00Z", 0, time.Second, 304},
		{"a window longer than the retention", "/summary.json?window=7d", 36 * time.Hour, time.Second, 304},
		{"an open range", "/violations.json?from=2026-11-20T00:00:00Z", 0, time.Second, 304},
		{"a range that has ended", "/summary.json?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z", 0, time.Second, 304},
		{"a window that starts later", "/summary.json?window=1h", 0, time.Minute, 200},
		{"a range that ends", "/summary.json?from=2026-11-20T00:00:00Z&to=2026-11-21T15:00:00Z", 0, time.Hour, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			snapshot.Retention = tc.retention
			first := ask(&report.Source{Ledger: snapshot, Now: now}, "GET", tc.target)
			if first.Code != 200 {
				t.Fatalf("got %d %s", first.Code, first.Body)
			}
			later := &report.Source{Ledger: snapshot, Now: now.Add(tc.later)}
			if again := ask(later, "GET", tc.target, "If-None-Match", first.Header().Get("ETag")); again.Code != tc.want {
				t.Errorf("%s later: got %d, want %d\n%s", tc.later, again.Code, tc.want, again.Body)
			}
		})
	}
}

// The name of a saved file is made of harmless letters.
func TestFileNames(t *testing.T) {
	views := &examples{t: t, change: func(v any) {
		if e, ok := v.(*report.Evidence); ok {
			e.Crawler.ID = "_other:../\"\r\nx\u202e" + strings.Repeat("y", 100)
		}
	}}
	w := ask(views, "GET", "/evidence.json?id=_other%3A..%2F%22%0D%0Ax%E2%80%AE"+strings.Repeat("y", 100))
	want := `attachment; filename="evidence-_other-------x-` + strings.Repeat("y", 64-len("_other-------x-")) + `.json"`
	if got := w.Header().Get("Content-Disposition"); w.Code != 200 || got != want {
		t.Errorf("got %d %s\nwant %s", w.Code, got, want)
	}
}
