package dashboard

import (
	"fmt"
	"strings"
	"testing"
)

// looks are the screens that every page supports.
var looks = []look{wide, narrow, {width: 1440, height: 900, dark: true}, {width: 390, height: 844, dark: true}}

// TestFirstScreen checks that the first screen answers an owner's main questions
// without scrolling, on every screen size.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	url := serveDay(t, scriptedDay(t))
	for _, l := range looks {
		p := open(t, url, l)
		p.show("#/now")
		for question, answer := range map[string]string{
			"Who breaks the rules most?": "Bytespider 542 of 2,035 violations",
			"Which page?":                "/private/ example.com",
			"Since when?":                "2 d ago",
			"Is it really them?":         "unverified ByteDance",
			"What should I do?":          "Nothing to do. Its violations are blocked.",
		} {
			dt := fmt.Sprintf(`[...document.querySelectorAll(".glance dt")].find((e) => e.innerText === %q)`, question)
			got := strings.Join(strings.Fields(p.eval(dt+`.nextElementSibling.innerText`)), " ")
			if !strings.HasPrefix(got, answer) {
				t.Errorf("%d px, dark %v: %s %q", l.width, l.dark, question, got)
			}
			if p.eval(`(() => { const r = `+dt+`.nextElementSibling.getBoundingClientRect(); return r.bottom <= innerHeight && r.right <= innerWidth && r.left >= 0 && r.height > 0; })()`) != "true" {
				t.Errorf("%d px, dark %v: the answer to %q is not on the first screen", l.width, l.dark, question)
			}
		}
	}
}

// TestPhone checks that on a phone the filters are folded, and a crawler takes two
// lines without breaking a name.
func TestPhone(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), narrow)
	shown := `[...document.querySelectorAll("select")].filter((e) => e.checkVisibility()).length`
	for _, view := range []string{"#/now", "#/crawlers"} {
		p.show(view)
		if p.eval(shown) != "0" {
			t.Errorf("%s: the filters do not fold", view)
		}
		tall := p.eval(`JSON.stringify([...document.querySelectorAll(".lines tbody tr")].filter((e) => e.getBoundingClientRect().height > 66).map((e) => e.innerText))`)
		if tall != "[]" {
			t.Errorf("%s: rows with more than two lines: %s", view, tall)
		}
		broken := p.eval(`JSON.stringify([...document.querySelectorAll(".lines tbody th a, .lines tbody .opener > :last-child")].filter((e) => e.getBoundingClientRect().height > 30).map((e) => e.innerText))`)
		if broken != "[]" {
			t.Errorf("%s: names with a line break: %s", view, broken)
		}
	}
	// A violation takes one more line for the rule, and one for the reason if it was
	// allowed.
	p.show("#/violations")
	tall := p.eval(`JSON.stringify([...document.querySelectorAll(".ruled tbody tr")].filter((e) => e.getBoundingClientRect().height > (e.querySelector(".verdict.stale") ? 142 : 92)).map((e) => e.innerText))`)
	if tall != "[]" {
		t.Errorf("rows with more than three lines: %s", tall)
	}
	if text := p.text(".ruled tbody tr:first-child"); !strings.Contains(text, "shop.example.com") || !strings.Contains(text, "line 2") {
		t.Errorf("a row lacks its host or its rule: %q", text)
	}
	p.show("#/crawlers")
	p.eval(`document.querySelector(".fold").click()`)
	p.until(shown + ` === 3`)
	if got := p.eval(`document.querySelector(".fold").getAttribute("aria-expanded")`); got != "true" {
		t.Errorf("the open filters have aria-expanded=%s", got)
	}
	if over := p.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
		t.Errorf("with open filters the page is %s px too wide", over)
	}
	p.eval(`(() => { const e = document.querySelector("select[name=class]"); e.value = "search"; e.dispatchEvent(new Event("change")); })()`)
	p.until(`document.querySelector(".fold").innerText === "Filters (1)"`)
	p.show("#/crawlers?open=Googlebot")
	if over := p.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
		t.Errorf("with an open row the page is %s px too wide", over)
	}
}
