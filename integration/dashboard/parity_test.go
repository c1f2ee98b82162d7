package dashboard

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// answering is a day with the responses of the report's example.
type answering struct {
	*report.Source
	t *testing.T
}

func (d answering) ResponseAudit(f report.Filter) (p report.ResponseAudit) {
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "report", "testdata", "parity.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		d.t.Error(err)
	}
	p.Filter = f
	return p
}

// TestAnswered checks the panel about the responses that crawlers get. Without counts
// there is no panel.
func TestAnswered(t *testing.T) {
	t.Parallel()
	const panel = `[...document.querySelectorAll(".panel")].find((e) => e.innerText.startsWith("Response audit"))?.innerText ?? ""`
	for _, l := range []look{wide, narrow} {
		p := open(t, serveDay(t, answering{scriptedDay(t), t}), l)
		p.show("#/now")
		text := p.eval(panel)
		for _, want := range []string{"34 % of the allowed pages were refused (51 of 150)", "bingbot", "90", "GPTBot", "5.8 MiB", "OpenAI", "chatgpt.com 8", "107", "13"} {
			if !strings.Contains(text, want) {
				t.Errorf("the panel lacks %q: %s", want, text)
			}
		}
		if dir := os.Getenv("PICTURES"); dir != "" {
			name := filepath.Join(dir, "parity-wide.png")
			if l == narrow {
				name = filepath.Join(dir, "parity-narrow.png")
			}
			if err := os.WriteFile(name, p.picture(0), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/now")
	if text := p.eval(panel); text != "" {
		t.Errorf("without counts the panel shows: %s", text)
	}
}
