package dashboard

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// TestEntityTags serves an asset that the browser has with 304. Data change too often for entity tags.
func TestEntityTags(t *testing.T) {
	for _, target := range []string{"/", "/app.js"} {
		tag := ask(&examples{t: t}, "GET", target).Header().Get("ETag")
		if again := ask(&examples{t: t}, "GET", target, "If-None-Match", tag); tag == "" || again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%s again: got %d and %d bytes, entity tag %q", target, again.Code, again.Body.Len(), tag)
		}
		if other := ask(&examples{t: t}, "GET", target, "If-None-Match", `"other"`); other.Code != 200 {
			t.Errorf("%s with another tag: got %d", target, other.Code)
		}
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
