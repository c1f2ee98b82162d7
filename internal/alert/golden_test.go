package alert

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// golden compares a value, as JSON, with a file in testdata.
func golden(t *testing.T, name string, value any) {
	t.Helper()
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s differs; go test ./internal/alert -update writes it anew\ngot:\n%s", path, got.String())
	}
}

// TestExample keeps the example of a list in step with the types.
func TestExample(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 20, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	golden(t, "alerts.json", List{Generated: now, IsPersistent: true, Alerts: []Alert{
		{
			ID: newID(SearchBlocked, "example.com"), Kind: SearchBlocked, Severity: Critical, Site: "example.com", Crawler: "Googlebot", Since: ago(3 * time.Minute),
			Title:  "Googlebot is blocked at example.com",
			Detail: `It is verified. Line 2, "Disallow: /private/" in the group User-agent: *, disallows /private/a. No group of the robots.txt names this crawler.`,
			Remedy: searchRemedy, RemedySnippet: "only_log verified Googlebot", State: Open,
		},
		{
			ID: newID(RobotsGone, "shop.example.com"), Kind: RobotsGone, Severity: Warning, Site: "shop.example.com", Since: ago(2 * time.Hour),
			Title:  "The robots.txt of shop.example.com is gone",
			Detail: "The answer is 404; until 12:20 UTC there were 12 rules. Nothing is forbidden now.",
			Remedy: "Bring the file back, or acknowledge if that is intended.", RemedySnippet: "curl -i https://shop.example.com/robots.txt", State: Open,
		},
		{
			ID: newID(ReadyForEnforce, "blog.example.com"), Kind: ReadyForEnforce, Severity: Info, Site: "blog.example.com", Since: ago(26 * time.Hour),
			Title:  "blog.example.com is ready for enforce",
			Detail: "It was monitored for 7 days. In mode enforce, 1204 requests would have been blocked, but none from search engines, previews or feed readers.",
			Remedy: "Replace robots_guard of this site.", RemedySnippet: "robots_guard enforce", State: Open,
		},
		{
			ID: newID(NewCrawler, "NewBot"), Kind: NewCrawler, Severity: Info, Crawler: "NewBot", Since: ago(30 * time.Hour),
			Title:  "NewBot is new here",
			Detail: "It came 4210 times in 24 hours, first at 08:20 UTC on 20 November. No robots.txt names it.",
			Remedy: "Add this to robots.txt if you do not want it.", RemedySnippet: "User-agent: NewBot\nDisallow: /", State: Acknowledged,
			Acknowledged: &Acknowledgement{At: ago(time.Hour), User: "ann", Note: "a partner"},
		},
		{
			ID: newID(StorageFailing), Kind: StorageFailing, Severity: Warning, Since: ago(5 * time.Hour), Until: ago(4 * time.Hour),
			Title: "Saving to the storage fails", Detail: "The error is: no space left on device.",
			Remedy: "Look at the storage of the Caddyfile; the log has each attempt.", State: Over,
		},
	}})
}
