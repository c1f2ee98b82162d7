package command

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAlerts prints what a server answers, and what to do.
func TestAlerts(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("..", "alert", "testdata", "alerts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		_ = r.Write(body)
		asked = r.Method + " " + r.URL.Path + " " + body.String()[strings.LastIndex(body.String(), "\n")+1:]
		if r.Method == http.MethodGet {
			_, _ = w.Write(list)
			return
		}
		_, _ = w.Write([]byte(`{"id":"x-1","kind":"unreachable","severity":"warning","title":"a title","detail":"a detail","do":"do it","state":"acknowledged","since":"2026-11-21T14:17:00Z","acknowledged":{"at":"2026-11-21T14:17:00Z","by":"ann","note":"known"}}`))
	}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	for _, tc := range []struct {
		args  []string
		asked string
		holds []string
	}{
		{nil, "GET /robots_guard/alerts ", []string{
			"critical: Googlebot is blocked at example.com (search_blocked-a379a6f6eeaf)\n  since 2026-11-21 14:17 UTC\n  It is verified.", "\n    exempt Googlebot\n\nwarning: ",
			"\n    User-agent: NewBot\n    Disallow: /\n", ", acknowledged by ann: a partner\n", ", over at 2026-11-21 10:20 UTC\n  The storage answers: no space left on device.\n",
		}},
		{[]string{"--json"}, "GET /robots_guard/alerts ", []string{string(list)}},
		{[]string{"--acknowledge", "x-1", "--note", "known", "--by", "ann"}, `POST /robots_guard/alerts/x-1/acknowledge {"note":"known","by":"ann"}`, []string{"acknowledged by ann: known\n"}},
		{[]string{"--undo", "x-1"}, "DELETE /robots_guard/alerts/x-1/acknowledge ", []string{"warning: a title (x-1)"}},
	} {
		out, err := execute(t.Context(), Config{}, append([]string{"alerts", "--address", address}, tc.args...)...)
		if err != nil || strings.TrimSpace(asked) != strings.TrimSpace(tc.asked) {
			t.Errorf("%q: %v, asked %q, want %q", tc.args, err, asked, tc.asked)
		}
		for _, part := range tc.holds {
			if !strings.Contains(out, part) {
				t.Errorf("%q: no %q in\n%s", tc.args, part, out)
			}
		}
	}
	for args, says := range map[string]string{
		"alerts x":                              "takes no argument",
		"alerts --note x":                       "need --acknowledge",
		"alerts --acknowledge a-1 --undo a-1":   "give one of",
		"alerts --address 127.0.0.1:1 --undo x": "no server answers",
		"alerts --address localhost":            `--address "localhost" has no port; write it as localhost:2019`,
		"alerts --address ::1":                  "write it as [::1]:2019",
		"alerts --address unix//nowhere":        "no server answers",
	} {
		if _, err := execute(t.Context(), Config{}, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
