package dashboard

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

var pictures = flag.String("pictures", "", "a folder for pictures of what robots_txt serves")

// managing is a day on which robots_txt serves the managed robots.txt of the report's
// example.
type managing struct {
	*report.Source
	t *testing.T
}

func (d managing) ManagedRobots(f report.Filter) (m report.ManagedRobots, ok bool) {
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "report", "testdata", "managed.json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		d.t.Error(err)
	}
	m.Filter = f
	return m, true
}

// TestManagedText checks the view robots.txt for a managed file: the rules with their
// reasons, the scheduled changes on a timeline, and the rule behind each line. Without
// a managed file the view has no such panel.
func TestManagedText(t *testing.T) {
	t.Parallel()
	panel := func(title string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".panel")].find((e) => e.innerText.startsWith(%q))?.innerText ?? ""`, title)
	}
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		missing(t, "no axe-core here; npm install gets it")
	}
	url := serveDay(t, managing{scriptedDay(t), t})
	for _, l := range looks {
		p := open(t, url, l)
		p.show("#/robots?site=example.com")
		for title, wants := range map[string][]string{
			"Managed by robots_txt": {"653da2ad012c", "Fetching the base fails since", "502 Bad Gateway", "The last good copy is used", "rule archive", "Caddyfile:12", "in force", "load of the search", "shop-team, OPS-7", "rule black-friday", "scheduled", "https://cms.example.com/rules.json", "(12 rules)", "A rule list is invalid"},
			"Scheduled changes":     {"Now", "rule black-friday begins", "+ Disallow: /compare", "rule black-friday ends", "− Disallow: /compare"},
			"Changes":               {"waits for confirmation", "9f86d081884c7d65", "Googlebot may not fetch /shop/1 any more", "in force", "confirmed by ann: the search is slow (OPS-7)", "fetched by bingbot, Googlebot", "superseded", "from a rule list"},
			"Lines by rule":         {"Disallow: /search", "rule archive"},
		} {
			text := strings.ReplaceAll(p.eval(panel(title)), "\u00a0", " ")
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("%d px: %s lacks %q: %s", l.width, title, want, text)
				}
			}
		}
		if wide := p.eval(`String(document.documentElement.scrollWidth > innerWidth)`); wide != "false" {
			t.Errorf("%d px: the page is wider than the window", l.width)
		}
		if inner := p.eval(`String([...document.querySelectorAll(".panel .scroll")].some((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth))`); l.width < 600 && inner != "false" {
			t.Errorf("%d px: tables have to be scrolled", l.width)
		}
		p.run(chromedp.Evaluate(string(axe), nil))
		if found := p.eval(`axe.run(document.querySelector("main"), {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes[0].html).join("\n"))`); found != "" {
			t.Errorf("%d px, dark %t: %s", l.width, l.dark, found)
		}
		if *pictures != "" {
			name := fmt.Sprintf("managed-%d-%t.png", l.width, l.dark)
			if err := os.WriteFile(filepath.Join(*pictures, name), p.picture(1600), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/robots?site=example.com")
	if text := p.eval(panel("Managed by robots_txt")); text != "" {
		t.Errorf("a panel without robots_txt: %s", text)
	}
}
