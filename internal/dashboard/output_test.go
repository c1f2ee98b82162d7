package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
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
	views.change = func(v any) { v.(*report.Summary).Generated = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	later := ask(views, "GET", "/summary.json")
	if later.Header().Get("ETag") != tag || !strings.Contains(later.Body.String(), `"generated": "2030-`) {
		t.Error("a later answer with the same numbers is another one")
	}
	views.change = func(v any) { v.(*report.Summary).Requests++ }
	if ask(views, "GET", "/summary.json").Header().Get("ETag") == tag {
		t.Error("other numbers have the same entity tag")
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
