package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// states are all views, and some rows with their details.
var states = []struct{ name, hash, holds string }{
	{"now", "#/now", "Requests by verdict, last 24 hours"},
	{"crawlers", "#/crawlers", "10 crawlers, last 24 hours"},
	{"crawler", "#/crawlers?open=Bytespider", "Networks of violations"},
	{"violations", "#/violations", "Violations"},
	{"by rule", "#/violations?group=rule", "by crawler"},
	{"by crawler", "#/violations?group=crawler", "by page"},
	{"by page", "#/violations?group=page", "by rule"},
	{"robots", "#/robots", "Disallow: /search?"},
	{"impact", "#/impact", "By class, last 24 hours"},
}

// show navigates to one of the states.
func (p *tab) show(hash string) {
	p.t.Helper()
	p.visit(hash)
	if strings.Contains(hash, "open=") {
		p.until(`document.querySelector(".detail .chart")`)
	}
}

// TestEveryViewFits checks that every view fits the screen in both colour schemes.
func TestEveryViewFits(t *testing.T) {
	t.Parallel()
	url := serveDay(t, scriptedDay(t))
	for _, l := range append(looks, look{width: 800, height: 1000}, look{width: 1180, height: 800}, look{width: 1190, height: 800}, look{width: 1401, height: 800}) {
		p := open(t, url, l)
		for _, state := range states {
			p.show(state.hash)
			if text := p.text("main"); !strings.Contains(text, state.holds) {
				t.Errorf("%s at %d px does not hold %q: %.500s", state.name, l.width, state.holds, text)
			}
			if over := p.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
				t.Errorf("%s at %d px: %s px too wide", state.name, l.width, over)
			}
			// Phone users do not find a column to which they have to scroll.
			if inner := p.eval(`JSON.stringify([...document.querySelectorAll(".part .scroll")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.ariaLabel))`); l.width < 600 && inner != "[]" {
				t.Errorf("%s at %d px: tables have to be scrolled: %s", state.name, l.width, inner)
			}
			// Content outside its panel is not readable.
			if out := p.eval(`JSON.stringify([...document.querySelectorAll("main .panel, main .tile, main .alarm")].flatMap((panel) => {
				const edge = panel.getBoundingClientRect();
				return [...panel.querySelectorAll("p, td, th, dd, dt, h2, h3, a, code, .badge")].filter((e) => !e.closest(".scroll, .unseen"))
					.filter((e) => { const r = e.getBoundingClientRect(); return r.width > 1 && (r.right > edge.right + 1 || r.left < edge.left - 1); })
					.map((e) => e.outerHTML.slice(0, 120));
			}).slice(0, 3))`); out != "[]" {
				t.Errorf("%s at %d px: outside of its panel: %s", state.name, l.width, out)
			}
		}
		paper := p.eval(`getComputedStyle(document.body).backgroundColor`)
		if light := paper == "rgb(247, 246, 243)"; light == l.dark {
			t.Errorf("the background is %s, dark: %v", paper, l.dark)
		}
	}
}

// number returns the number in a text such as "1,978 blocked".
func number(t *testing.T, text string) int {
	t.Helper()
	digits := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return c
		}
		if c == ',' {
			return -1
		}
		return ' '
	}, text)
	n, err := strconv.Atoi(strings.Fields(digits + " x")[0])
	if err != nil {
		t.Fatalf("no number in %q", text)
	}
	return n
}

// TestNumbersAddUp checks that the numbers of all views agree and add up.
func TestNumbersAddUp(t *testing.T) {
	t.Parallel()
	day := scriptedDay(t)
	p := open(t, serveDay(t, day), wide)
	for _, window := range []string{"1h", "24h", "7d", "30d"} {
		p.show("#/now?window=" + window)
		p.until(fmt.Sprintf(`document.querySelector(".times [aria-current]").textContent === %q`, window))
		requests, outside := number(t, p.text(".tile:nth-child(1) .big")), number(t, p.text(".tile:nth-child(2) .big"))
		sum := func(selector string) (sum int) {
			for _, text := range strings.Fields(p.text(selector)) {
				sum += number(t, text)
			}
			return sum
		}
		if got := sum(".breakdown tbody td:nth-child(2)"); got != requests || number(t, p.text(".breakdown tfoot td:nth-child(2)")) != requests {
			t.Errorf("%s: the verdicts sum up to %d, want %d", window, got, requests)
		}
		if got := number(t, p.text(".breakdown tbody tr:first-child td:nth-child(2)")); got != outside {
			t.Errorf("%s: %d violations in the breakdown, want %d", window, got, outside)
		}
		note := strings.Split(p.text(".tile:nth-child(2) .note"), " + ")
		if got := number(t, note[0]) + number(t, note[1]); got != outside {
			t.Errorf("%s: %d blocked and would be blocked, want %d", window, got, outside)
		}
		for panel, want := range map[string]string{"Sites": ".table", "Most violations": ".table"} {
			first := `[...document.querySelectorAll(".panel")].find((e) => e.innerText.startsWith("` + panel + `"))`
			column := func(name string) string {
				return p.eval(`(() => { const table = ` + first + `.querySelector("` + want + `"), i = [...table.querySelectorAll("thead th")].findIndex((e) => e.innerText.startsWith("` + name + `"));
					return String([...table.querySelectorAll("tbody tr")].reduce((sum, row) => sum + Number(row.children[i].querySelector(".cell").firstChild.textContent.replace(/\D/g, "")), 0)); })()`)
			}
			if got := column("Requests"); got != fmt.Sprint(requests) {
				t.Errorf("%s: the requests in %q add up to %s, want %d", window, panel, got, requests)
			}
			if got := column("Violations"); got != fmt.Sprint(outside) {
				t.Errorf("%s: the requests outside of %q sum up to %s, want %d", window, panel, got, outside)
			}
		}
		// The chart's table and bars have the same numbers.
		p.eval(`void (document.querySelector(".astable").open = true)`)
		if got := sum(".astable tbody td:nth-child(2)"); got != requests {
			t.Errorf("%s: the chart's table sums up to %d, want %d", window, got, requests)
		}
		p.show("#/impact?window=" + window)
		groups := 0
		for row := range strings.Lines(p.eval(`[...document.querySelectorAll(".impact .group")].map((e) => [...e.querySelectorAll(".number .cell")].map((c) => c.innerText).join(" ")).join("\n")`)) {
			cells := strings.Fields(row)
			groups += number(t, cells[0])
			if parts := number(t, cells[1]) + number(t, cells[2]) + number(t, cells[3]) + number(t, cells[4]); parts != number(t, cells[0]) {
				t.Errorf("%s: the cells of a class sum up to %d in %v", window, parts, cells)
			}
		}
		if groups != requests {
			t.Errorf("%s: the classes sum up to %d, want %d", window, groups, requests)
		}
	}
}

// TestFilters checks that filters are part of the URL, so the browser's back and
// forward buttons change them.
func TestFilters(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	total := p.text(".tile:nth-child(1) .big")
	choose := func(name, value string) {
		p.eval(fmt.Sprintf(`(() => { const e = document.querySelector("select[name=%s]"); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); })()`, name, value))
		p.until(fmt.Sprintf(`location.hash.includes("%s=%s")`, name, value))
		p.settled()
	}
	choose("site", "shop.example.com")
	p.until(fmt.Sprintf(`document.querySelector(".tile .big").innerText !== %q`, total))
	shop := p.text(".tile:nth-child(1) .big")
	choose("class", "seo")
	p.until(fmt.Sprintf(`document.querySelector(".tile .big").innerText !== %q`, shop))
	choose("identity", "verified")
	p.until(`document.querySelector(".tile:nth-child(2) .big").innerText === "0"`)
	p.eval(`document.querySelector(".times a").click()`)
	p.until(`location.hash === "#/now?class=seo&identity=verified&site=shop.example.com&window=1h"`)
	p.eval(`[...document.querySelectorAll("nav a")].find((e) => e.innerText === "Crawlers").click()`)
	p.until(`location.hash === "#/crawlers?class=seo&identity=verified&site=shop.example.com&window=1h"`)
	p.settled()
	if names := p.text(".opener"); names != "AhrefsBot" {
		t.Errorf("after filtering: %q", names)
	}
	for _, want := range []string{
		"#/now?class=seo&identity=verified&site=shop.example.com&window=1h", "#/now?class=seo&identity=verified&site=shop.example.com",
		"#/now?class=seo&site=shop.example.com", "#/now?site=shop.example.com",
	} {
		p.eval(`void history.back()`)
		p.until(fmt.Sprintf(`location.hash === %q`, want))
	}
	p.until(fmt.Sprintf(`document.querySelector(".tile .big").innerText === %q`, shop))
	if site, class := p.eval(`document.querySelector("select[name=site]").value`), p.eval(`document.querySelector("select[name=class]").value`); site != "shop.example.com" || class != "" {
		t.Errorf("after going back the filters are %q and %q", site, class)
	}
	p.eval(`void history.forward()`)
	p.until(`document.querySelector("select[name=class]").value === "seo"`)
	p.visit("#/now?class=feed")
	p.until(`document.querySelector("main").innerText.includes("Nothing matches")`)
	p.eval(`document.querySelector(".all").click()`)
	p.until(fmt.Sprintf(`document.querySelector(".tile .big").innerText === %q`, total))
}

// TestSorting checks that tables can be sorted by any column in both directions.
func TestSorting(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/crawlers")
	if first := p.eval(`document.querySelector(".opener").innerText`); first != "Bytespider" {
		t.Errorf("%q is the first, want the crawler with the most violations", first)
	}
	for _, tc := range []struct{ column, sort, order, first string }{
		{"Requests", "-requests", "descending", "Googlebot"},
		{"Requests", "requests", "ascending", "all others (crawler)"},
		{"Crawler", "name", "ascending", "all others (crawler)"},
		{"Crawler", "-name", "descending", "SemrushBot"},
		{"First seen", "-first", "descending", "facebookexternalhit"},
	} {
		p.eval(fmt.Sprintf(`[...document.querySelectorAll("main thead .sort")].find((e) => e.innerText.startsWith(%q)).click()`, tc.column))
		p.until(fmt.Sprintf(`new URLSearchParams(location.hash.split("?")[1]).get("sort") === %q`, tc.sort))
		p.until(fmt.Sprintf(`document.querySelector("main th[aria-sort=%s]")?.innerText.startsWith(%q)`, tc.order, tc.column))
		if first := p.eval(`document.querySelector(".opener").innerText`); first != tc.first {
			t.Errorf("by %s the first is %q, want %q", tc.sort, first, tc.first)
		}
	}
}

// TestKeyboard checks that the page can be used without a mouse.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), look{width: 1440, height: 900, still: true})
	focus := func() string {
		return p.eval(`document.activeElement.innerText?.trim().split("\n")[0] || document.activeElement.getAttribute("aria-label") || document.activeElement.name || ""`)
	}
	p.press(kb.Tab)
	if got := focus(); got != "Skip to content" {
		t.Errorf("the first stop is %q", got)
	}
	p.press(kb.Enter)
	p.until(`document.activeElement.id === "main"`)
	stops := 0
	for p.eval(`document.activeElement.getAttribute("role")`) != "slider" {
		if stops++; stops > 30 {
			t.Fatal("Tab does not reach the chart")
		}
		p.press(kb.Tab)
		if ring := p.eval(`getComputedStyle(document.activeElement).outlineStyle`); ring != "solid" {
			t.Errorf("%q shows no focus", focus())
		}
	}
	p.press(kb.ArrowLeft, kb.ArrowLeft)
	p.until(`document.querySelector("[role=slider]").getAttribute("aria-valuetext").startsWith("21 Nov, 12:00 to 13:00: ")`)
	p.until(`document.querySelector(".readout").innerText.includes("violation")`)
	p.press(kb.Home)
	p.until(`document.querySelector("[role=slider]").getAttribute("aria-valuenow") === "0"`)
	if got := p.eval(`document.activeElement.getAttribute("role")`); got != "slider" {
		t.Errorf("the chart has lost the focus to %s", got)
	}

	p.show("#/crawlers")
	p.eval(`document.querySelectorAll(".opener")[0].focus()`)
	p.press(kb.Enter)
	p.until(`document.querySelectorAll(".opener")[0].getAttribute("aria-expanded") === "true" && document.querySelector(".detail .chart")`)
	if got := focus(); got != "Bytespider" {
		t.Errorf("the focus is on %q", got)
	}
	p.press(" ")
	p.until(`!document.querySelector(".detail")`)
	p.eval(`void history.back()`)
	p.until(`document.querySelector(".detail .chart")`)
}

// TestHover checks that the chart announces the values under the pointer.
func TestHover(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.eval(`(() => { const e = document.querySelector(".bars"), r = e.getBoundingClientRect();
		e.dispatchEvent(new PointerEvent("pointermove", {clientX: r.left + r.width * 5.5 / 24, clientY: r.top + 20, bubbles: true})); })()`)
	p.until(`document.querySelector(".readout").innerText.startsWith("20 Nov, 20:00 to 21:00")`)
	p.until(`document.querySelector(".bars rect.chosen")`)
	p.eval(`document.querySelector(".bars").dispatchEvent(new PointerEvent("pointerleave"))`)
	p.until(`!document.querySelector(".bars rect.chosen")`)
}
