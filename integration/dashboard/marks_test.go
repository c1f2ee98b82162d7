package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// eventful is a day on which the owner has changed robots.txt and modes.
type eventful struct{ *report.Source }

func (d eventful) Summary(f report.Filter) report.Summary {
	s := d.Source.Summary(f)
	if f.Window == report.Day {
		s.Changes = []report.SiteChange{
			{At: noon.Add(-18 * time.Hour), Site: "shop.example.com", Kind: ledger.ModeChange, From: "enforce", To: "monitor"},
			{At: noon.Add(-5 * time.Hour), Site: "example.com", Kind: ledger.RobotsChange, From: strings.Repeat("0", 64), To: strings.Repeat("a", 64)},
		}
	}
	return s
}

// TestMarks checks that the chart marks edits and changes of mode, for users of a
// pointer, a keyboard and a screen reader.
func TestMarks(t *testing.T) {
	t.Parallel()
	for _, l := range looks {
		p := open(t, serveDay(t, eventful{scriptedDay(t)}), l)
		p.show("#/now")
		p.until(`document.querySelectorAll(".flag").length === 2 && document.querySelectorAll(".markline").length === 2`)
		if name := p.eval(`document.querySelector(".flag").getAttribute("aria-label")`); name != "2026-11-20 20:20:30 UTC: mode of shop.example.com changed from enforce to monitor" {
			t.Errorf("the first flag says %q", name)
		}
		// The position of a flag matches its time.
		if off := number(t, p.eval(`(() => { const bars = document.querySelector(".bars").getBoundingClientRect(), flag = document.querySelector(".flag .target").getBoundingClientRect();
			return String(Math.round(Math.abs(flag.left + 12 - bars.left - bars.width * (5 + 20.5 / 60) / 24))); })()`)); off > 2 {
			t.Errorf("%d px: a flag is %d px from its time", l.width, off)
		}
		p.eval(`void (document.querySelector(".changes").open = true)`)
		if text := p.text(".changes"); !strings.HasPrefix(text, "2 changes\n") || !strings.Contains(text, "2026-11-21 09:20:30 UTC robots.txt of example.com changed") {
			t.Errorf("the list says %q", text)
		}
	}
	p := open(t, serveDay(t, eventful{scriptedDay(t)}), wide)
	label := `getComputedStyle(document.querySelectorAll(".flag .label")[%d]).display`
	if got := p.eval(fmt.Sprintf(label, 0)); got != "none" {
		t.Errorf("without focus the label is %s", got)
	}
	p.eval(`document.querySelector(".flag").focus()`)
	p.until(fmt.Sprintf(label, 0) + ` !== "none"`)
	p.press(kb.Tab)
	p.until(fmt.Sprintf(label, 1) + ` !== "none"`)
	p.press(kb.Tab) // to the chart, whose steps name the changes in them
	p.press(kb.End, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft)
	p.until(`document.querySelector("[role=slider]").getAttribute("aria-valuetext").endsWith("; robots.txt of example.com changed")`)
	p.until(`document.querySelector(".readout").innerText.includes("robots.txt of example.com changed")`)
	p.eval(`document.querySelectorAll(".flag")[1].dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`)
	p.until(`location.hash.startsWith("#/robots?site=example.com&version=aaaa")`)
}

// TestCountsGoOnOverAnEdit checks that the chart marks the edit of the scripted day,
// and the counts continue after it.
func TestCountsGoOnOverAnEdit(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/now?window=7d")
	p.until(`document.querySelector(".flag")?.getAttribute("aria-label") === "2026-11-20 10:20:30 UTC: robots.txt of example.com changed"`)
	p.show("#/violations?group=rule&site=example.com&window=7d")
	rules := p.eval(`JSON.stringify([...document.querySelectorAll("main tbody th code")].map((e) => e.innerText))`)
	if strings.Count(rules, `"Disallow: /private/"`) != 1 { // on line 3 before and after the edit
		t.Errorf("the counts of the rule are split: %s", rules)
	}
	p.show("#/robots?site=example.com")
	if text := p.text(".panelhead .aside"); !strings.HasPrefix(text, "counted since 2 d ago, new lines since 28 h ago") {
		t.Errorf("the counts: %q", text)
	}
}
