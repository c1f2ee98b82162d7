package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
)

// TestOwnersQuestions checks that the first screens answer the questions of an owner in
// plain words.
func TestOwnersQuestions(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	worst := `[...document.querySelectorAll(".panel")].find((e) => e.innerText.startsWith("Most violations")).querySelector("tbody tr")`
	p.until(worst)
	row := p.eval(worst + `.innerText`)
	for question, answer := range map[string]string{
		"who breaks my rules most": "Bytespider",
		"who runs it":              "ByteDance · AI training",
		"is it really them":        "unverified",
		"since when":               "2 d ago",
		"what is done":             "blocked",
	} {
		if !strings.Contains(row, answer) {
			t.Errorf("%s? %q is not in %q", question, answer, row)
		}
	}
	p.show("#/violations?group=page")
	if text := p.text("main tbody tr:first-child"); !strings.Contains(text, "/search?q=a") || !strings.Contains(text, "example.com") || !strings.Contains(text, "Googlebot") {
		t.Errorf("which pages? %q", text)
	}
	for id, advice := range map[string]string{
		"SemrushBot":     "It fetches robots.txt and violates it, and its violations pass. Use enforce to block them.",
		"Bytespider":     "Nothing to do. Its violations are blocked. Your robots.txt already disallows everything for it (line 23).",
		"Googlebot":      "This search engine is blocked. If that is not intended",
		"AhrefsBot":      "Nothing to do. It has no violations.",
		"_spoofed:other": "These clients use false names.",
	} {
		p.show("#/crawlers?open=" + id)
		p.until(fmt.Sprintf(`document.querySelector(".actions p").innerText.includes(%q)`, advice))
	}
	for _, state := range states {
		p.show(state.hash)
		p.eval(`document.querySelectorAll("main details:not(.words)").forEach((e) => { e.open = true; })`)
		text := strings.ToLower(p.text("main > :not(.words)"))
		for _, word := range []string{"outside robots.txt", "stale", "claimed", "together"} {
			if strings.Contains(text, word) {
				t.Errorf("%s uses the word %q", state.name, word)
			}
		}
	}
}

// TestCopy checks that the suggested lines are correct, and a button copies them.
func TestCopy(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.run(browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite, browser.PermissionTypeClipboardSanitizedWrite}))
	copied := func(name string) string {
		p.eval(fmt.Sprintf(`document.querySelector(%q).click()`, ".copy[aria-label='Copy "+name+"']"))
		p.until(`document.getElementById("said").textContent === "Copied"`)
		p.eval(`void (document.getElementById("said").textContent = "")`)
		return p.eval(`navigator.clipboard.readText()`)
	}
	p.show("#/crawlers?open=SemrushBot")
	for name, want := range map[string]string{
		"the line: Disallow everything":   "User-agent: SemrushBot\nDisallow: /",
		"the line: Exempt it":             "exempt SemrushBot",
		"the line: Log, but do not block": "only_log SemrushBot",
		"the line: Explain the verdict":   "caddy robots-guard explain --user-agent 'Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)' 'https://shop.example.com/shoes?sort=price'",
	} {
		if got := copied(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	p.eval(`void (document.querySelector(".actions details").open = true)`)
	letter := copied("the mail")
	for _, part := range []string{"clients with the name SemrushBot", "(shop.example.com)", `disallowed by "Disallow: /cart" (line 2)`, "shop.example.com/cart", "185.191.171.0/24", "unverified"} {
		if !strings.Contains(letter, part) {
			t.Errorf("the mail lacks %q: %s", part, letter)
		}
	}
	link := p.eval(`decodeURIComponent(document.querySelector(".actions a.button").href)`)
	if !strings.HasPrefix(link, "mailto:?subject=Requests of SemrushBot that robots.txt disallows&body=Hello,\r\n") || len(link) > 2100 {
		t.Errorf("%d bytes: %s", len(link), link)
	}
	p.show("#/crawlers?open=Googlebot")
	if got := copied("the line: Log, but do not block"); got != "only_log verified Googlebot" {
		t.Errorf("of who is verified: %q", got)
	}
	p.show("#/crawlers?open=Bytespider")
	if p.eval(`document.querySelector(".copy[aria-label='Copy the line: Disallow everything']") === null`) != "true" {
		t.Error("who is shut out shall be shut out again")
	}
}

// TestGroupsAndSearch checks that violations can be grouped and searched. A page
// belongs to one host.
func TestGroupsAndSearch(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	first := func() string { return p.text("main tbody tr:first-child") }
	p.show("#/violations")
	total := p.eval(`document.querySelectorAll("main .table tbody tr").length`)
	for _, tc := range []struct{ group, holds string }{{"by rule", "Disallow: /private/"}, {"by crawler", "SemrushBot"}, {"by page", "/search?q=a"}} {
		p.eval(fmt.Sprintf(`[...document.querySelectorAll(".controls a")].find((e) => e.innerText === %q).click()`, tc.group))
		p.until(fmt.Sprintf(`document.querySelector("main caption").textContent === "Violations %s"`, tc.group))
		if text := first(); !strings.Contains(text, tc.holds) {
			t.Errorf("%s: the first row is %q", tc.group, text)
		}
	}
	// Grouped by page, each row is a host and a path.
	pages := p.eval(`JSON.stringify([...document.querySelectorAll("main tbody th")].map((e) => e.innerText))`)
	if !strings.Contains(pages, `"/cart\nshop.example.com"`) || !strings.Contains(pages, `"/private/\nexample.com"`) {
		t.Errorf("the pages: %s", pages)
	}
	p.eval(`[...document.querySelectorAll(".controls a")].find((e) => e.innerText === "each").click()`)
	p.until(`location.hash === "#/violations"`)
	search := func(words string) {
		p.eval(fmt.Sprintf(`(() => { const e = document.querySelector("input[name=q]"); e.focus(); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); })()`, words))
	}
	search("shop.example.com/CART semrush")
	p.until(`document.querySelectorAll("main .table tbody tr").length === 1`)
	if text := first(); !strings.Contains(text, "/cart") || !strings.Contains(p.text("h2"), "1 of "+total+" rows") {
		t.Errorf("found %q under %q", text, p.text("h2"))
	}
	if p.eval(`document.activeElement.name`) != "q" {
		t.Error("the search field has lost the focus")
	}
	search("nothing like it")
	p.until(`document.querySelector("main").innerText.includes("No row contains these words.")`)
	search("")
	p.until(fmt.Sprintf(`document.querySelectorAll("main .table tbody tr").length === %s`, total))
}

// TestLineLeadsToItsVersion checks that the line number of a rule links to the version
// of robots.txt that contained the rule.
func TestLineLeadsToItsVersion(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/violations?q=search%3Fq%3Da")
	p.eval(`document.querySelector("main tbody .tolines").click()`)
	p.until(`document.querySelector(".line.marked")?.innerText.includes("Disallow: /search?")`)
	if text := p.text("h2"); !strings.Contains(text, "Line by line") {
		t.Errorf("the current version is not shown as such: %s", text)
	}
	p.until(`(() => { const r = document.querySelector(".line.marked").getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; })()`)
	current := p.eval(`new URLSearchParams(location.hash.split("?")[1]).get("version")`)
	p.show("#/violations?window=7d")
	p.eval(fmt.Sprintf(`[...document.querySelectorAll("main tbody .tolines")].find((e) => e.href.includes("site=example.com") && !e.href.includes(%q)).click()`, current))
	p.until(`document.querySelector(".line.marked")?.innerText.includes("Disallow: /private/")`)
	if text := p.text("main"); !strings.Contains(text, "in force from") || !strings.Contains(text, "Show the current version") {
		t.Errorf("an earlier version is shown as the current one: %.500s", text)
	}
	p.visit("#/robots?site=example.com&version=0123456789abcdef&line=3")
	p.until(`document.querySelector("main").innerText.includes("Version 01234567 is no longer stored. This is the current version.")`)
}
