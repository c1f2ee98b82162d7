package directive

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestEnforceSome checks that enforce with arguments blocks only the named clients. It
// checks the responses, the log and the reports.
func TestEnforceSome(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, harness.RuledSite+"\nhttp://stats.test:$PORT {\n\trobots_guard_dashboard\n}\n", "$MODE", "enforce ai_training facebookexternalhit")
	s.Warm("/")
	harness.Visits(t, s, []harness.Visit{
		{harness.GPTBot, "/x", 403, "GPTBot"},
		{"facebookexternalhit/1.1", "/named/x", 403, "facebookexternalhit"},
		{harness.Bingbot, "/private/x", 200, "page /private/x"},
		{harness.Bingbot, "/", 200, "page /"},
		{harness.Firefox, "/private/x", 200, "page /private/x"},
	})
	levels := make(map[string]any)
	for _, line := range s.Await("request disallowed by robots.txt", 3) {
		levels[line["crawler"].(string)] = line["level"]
	}
	if levels["GPTBot"] != "warn" || levels["facebookexternalhit"] != "warn" || levels["bingbot"] != "info" {
		t.Errorf("log levels %v", levels)
	}
	var summary struct {
		Sites []struct {
			Site, Mode string
			Blocked    int
			WouldBlock int `json:"would_block"`
		} `json:"sites_now"`
	}
	harness.Eventually(t, "the summary counts them", func() bool {
		answer := harness.Get(t, s.URL("/summary.json"), harness.Firefox, harness.Host("stats.test"))
		if err := json.Unmarshal([]byte(answer.Body), &summary); answer.Status != http.StatusOK || err != nil {
			t.Fatalf("%d %v: %s", answer.Status, err, answer.Body)
		}
		return len(summary.Sites) > 0 && summary.Sites[0].WouldBlock > 0
	})
	if site := summary.Sites[0]; site.Mode != "enforce" || site.Blocked != 2 || site.WouldBlock != 1 {
		t.Errorf("the summary has %+v", site)
	}
}
