package rulelist

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestReport checks the number of rules and the present problem.
func TestReport(t *testing.T) {
	bad := false
	server, l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if bad {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, list("a", "b"))
	})
	site := NewSite(Config{Lists: []*List{l}})
	report := func() string { return fmt.Sprintf("%+v", site.Report()) }
	name := server.URL + "/rules.json"
	if got, want := report(), fmt.Sprintf("[{Name:%s Rules:0 Failure:}]", name); got != want {
		t.Errorf("before it is read: %s, want %s", got, want)
	}
	l.Load(t.Context(), 1)
	if got, want := report(), fmt.Sprintf("[{Name:%s Rules:2 Failure:}]", name); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	bad = true
	l.Load(t.Context(), 2)
	if got := report(); !strings.Contains(got, "Rules:2 Failure:") || !strings.Contains(got, "404 Not Found") {
		t.Errorf("gone: %s", got)
	}
}
