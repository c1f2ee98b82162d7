package dashboard

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAccessibility checks every view with axe-core.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		missing(t, "no axe-core here; npm install gets it")
	}
	url := serveDay(t, scriptedDay(t))
	for _, l := range looks {
		t.Run(fmt.Sprintf("%d px, dark %v", l.width, l.dark), func(t *testing.T) {
			t.Parallel()
			p := open(t, url, l)
			p.run(chromedp.Evaluate(string(axe), nil))
			for _, state := range states {
				p.show(state.hash)
				p.eval(`document.querySelectorAll("details").forEach((e) => { e.open = true; })`)
				var found []struct {
					ID, Impact, Help string
					Nodes            []struct {
						HTML           string `json:"html"`
						FailureSummary string
					}
				}
				text := p.eval(`axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => JSON.stringify(r.violations))`)
				if err := json.Unmarshal([]byte(text), &found); err != nil {
					t.Fatalf("%v in %.200s", err, text)
				}
				for _, violation := range found {
					for _, node := range violation.Nodes[:min(len(violation.Nodes), 3)] {
						t.Errorf("%s: %s %s: %.300s\n%s", state.name, violation.Impact, violation.ID, node.HTML, node.FailureSummary)
					}
				}
			}
		})
	}
}
