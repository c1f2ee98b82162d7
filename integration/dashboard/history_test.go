package dashboard

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
)

// TestHistoryLost checks that the page warns that a restart loses the counts, with the
// reason, but only if that is so.
func TestHistoryLost(t *testing.T) {
	t.Parallel()
	day := scriptedDay(t)
	page := dashboard.New(func() dashboard.Views { return day }, nil, nil)
	why := "the configuration has storage off"
	mux := http.NewServeMux()
	mux.Handle("/api/alerts", dayAlerts())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/summary.json" {
			page.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, r)
		var summary map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &summary); err != nil {
			t.Error(err)
		}
		summary["history"] = map[string]any{"kept": why == "", "why": why}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(summary)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	p := open(t, s.URL+"/", narrow)
	if text := p.text(".notice"); text != "A restart deletes the counts: the configuration has storage off." {
		t.Errorf("the page says %q", text)
	}
	why = ""
	p = open(t, s.URL+"/", narrow)
	if text := p.text(".notice"); text != "" {
		t.Errorf("with storage the page says %q", text)
	}
}
