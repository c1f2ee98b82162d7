package dashboard

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// cautious is a day on which enforce would block a search engine.
type cautious struct{ *report.Source }

func (c cautious) Impact(f report.Filter) report.EnforceImpact {
	i := c.Source.Impact(f)
	for n := range i.ByClass {
		if class := &i.ByClass[n]; class.Class == "search" || class.Class == "ai_training" {
			class.WouldBlock += 5
		}
	}
	return i
}

// TestNextLine checks that Impact shows the next line for the Caddyfile: for all
// crawlers if no class is at risk, and otherwise class by class.
func TestNextLine(t *testing.T) {
	t.Parallel()
	day := scriptedDay(t)
	p := open(t, serveDay(t, day), wide)
	lines := `JSON.stringify([...document.querySelectorAll(".nextlines code")].map((e) => e.textContent))`
	p.show("#/impact")
	if got := p.eval(lines); got != `["robots_guard enforce"]` {
		t.Errorf("without a class at risk: %s", got)
	}
	if text := p.text(".nextlines"); !strings.Contains(text, "Would have blocked 279 requests: SEO.") {
		t.Errorf("it does not say what it blocks: %s", text)
	}
	if text := p.text("main .lead"); !strings.Contains(text, "before: 976") {
		t.Errorf("no number of the previous period: %s", text)
	}
	p = open(t, serveDay(t, cautious{day}), narrow)
	p.show("#/impact")
	if got := p.eval(lines); got != `["robots_guard enforce ai_training seo","robots_guard enforce {\n\tonly_log search\n}"]` {
		t.Errorf("with a search engine at risk: %s", got)
	}
	day.SiteStates["shop.example.com"] = report.SiteState{Mode: "enforce"}
	p = open(t, serveDay(t, day), wide)
	p.show("#/impact")
	if p.eval(`document.querySelector(".nextlines") === null`) != "true" {
		t.Error("the panel shows a line although every site is in enforce")
	}
}
