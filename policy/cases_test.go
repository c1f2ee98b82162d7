package policy

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestConformanceCases judges recorded cases from the test suites of a dozen parsers. The cases are
// third-party material in a directory next to the checkout, which may be missing. The tables in
// this package cover the same rules.
func TestConformanceCases(t *testing.T) {
	for _, name := range []string{"verdicts.jsonl", "tricky.jsonl"} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join("..", "..", "shared", "cases", name))
			if err != nil {
				t.Skip("the recorded cases do not stand beside this checkout")
			}
			defer f.Close()
			rows := 0
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 16<<20)
			for lines.Scan() {
				var row struct {
					ID, Robots, Agent, URL string
					RobotsB64              []byte `json:"robots_b64"`
					Ours                   bool
				}
				if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
					t.Fatal(err)
				}
				body := row.RobotsB64
				if body == nil {
					body = []byte(row.Robots)
				}
				rows++
				selected := Parse(body).Select
				if crawler := uaident.Default().Lookup(row.Agent); crawler != nil && crawler.ParsesLeniently() {
					selected = Parse(body).SelectWithLenientKeys
				}
				v := selected(true, row.Agent).Judge(TargetFromURL(row.URL))
				if v.Allowed != row.Ours {
					t.Errorf("%s: %q for %q: allowed = %t, want %t (by %q)", row.ID, row.URL, row.Agent, v.Allowed, row.Ours, v.Rule)
				}
			}
			if err := lines.Err(); err != nil {
				t.Fatal(err)
			}
			if rows == 0 {
				t.Fatal("the file contains no case")
			}
		})
	}
}
