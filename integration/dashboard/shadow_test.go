package dashboard

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// trying is a day with the trial of the report's example.
type trying struct {
	*report.Source
	t      *testing.T
	change func(*report.ShadowTrials)
}

func (d trying) Shadow(f report.Filter) (s report.ShadowTrials) {
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "report", "testdata", "shadow.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		d.t.Error(err)
	}
	s.Filter = f
	d.change(&s)
	return s
}

// TestTriedText checks the panel about a trial of a robots.txt. Without a trial there
// is no panel.
func TestTriedText(t *testing.T) {
	t.Parallel()
	const panel = `[...document.querySelectorAll(".panel")].find((e) => e.innerText.startsWith("Trial"))?.innerText ?? ""`
	day := trying{scriptedDay(t), t, func(*report.ShadowTrials) {}}
	for _, l := range []look{wide, narrow} {
		p := open(t, serveDay(t, day), l)
		p.show("#/robots?site=example.com")
		text := p.eval(panel)
		for _, want := range []string{"/srv/next.txt", "3 of them are from search engines", "bingbot", "newly disallowed", "/shop/lamp", "Disallow: /shop", "line 3", "GPTBot", "newly allowed", "≤ 90"} {
			if !strings.Contains(text, want) {
				t.Errorf("the panel lacks %q: %s", want, text)
			}
		}
		if first, second := strings.Index(text, "bingbot"), strings.Index(text, "GPTBot"); first > second {
			t.Error("search engines do not come first")
		}
	}
	day.change = func(s *report.ShadowTrials) {
		s.Trials, s.TrialFiles[0].Version, s.TrialFiles[0].Error = []report.Trial{}, "", "the file does not exist (status 404 Not Found)"
	}
	p := open(t, serveDay(t, day), wide)
	p.show("#/robots?site=example.com")
	if text := p.eval(panel); !strings.Contains(text, "/srv/next.txt cannot be read, so no trial runs: the file does not exist (status 404 Not Found).") {
		t.Errorf("it does not say why nothing is tried: %s", text)
	}
	day.change = func(s *report.ShadowTrials) { s.Trials, s.TrialFiles[0].Error = []report.Trial{}, "" } // the trial may be at another site
	p = open(t, serveDay(t, day), wide)
	p.show("#/robots?site=example.com")
	if text := p.eval(panel); !strings.Contains(text, "/srv/next.txt is on trial. No request to this site has been compared yet.") {
		t.Errorf("it says of a text that is tried somewhere: %s", text)
	}
	p = open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/robots?site=example.com")
	if text := p.eval(panel); text != "" {
		t.Errorf("a panel without a trial: %s", text)
	}
}
