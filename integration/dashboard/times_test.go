package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
)

// TestZones checks that a switch selects UTC or the local time zone. The selection is
// part of the URL.
func TestZones(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.run(emulation.SetTimezoneOverride("Asia/Kolkata"))
	p.show("#/robots?site=example.com")
	if text := p.text(".versions time"); !strings.Contains(text, "2026-11-20 10:20:30 UTC") {
		t.Errorf("in UTC: %s", text)
	}
	p.eval(`[...document.querySelectorAll(".filters a")].find((e) => e.innerText === "local time").click()`)
	p.until(`document.querySelector(".versions time").innerText === "2026-11-20 15:50:30 UTC+5:30"`)
	p.show("#/now?zone=local")
	if axis := p.eval(`document.querySelector(".bars").textContent`); !strings.Contains(axis, "20:30") {
		t.Errorf("the axis: %s", axis)
	}
	if text := p.text("#foot"); !strings.Contains(text, "UTC+5:30") {
		t.Errorf("the foot: %s", text)
	}
	if href := p.eval(`document.querySelector("nav a:nth-child(2)").getAttribute("href")`); href != "#/crawlers?zone=local" {
		t.Errorf("the link to %s loses the time zone", href)
	}
	if strings.Contains(p.eval(`document.querySelector(".downloads a").href`), "zone") {
		t.Error("a link to data contains the time zone")
	}
}

// TestRange checks that a time range restricts every view. Its fields use the selected
// time zone and keep the typed values.
func TestRange(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.run(emulation.SetTimezoneOverride("Asia/Kolkata"))
	p.show("#/now?zone=local")
	all := p.text(".tile .big")
	p.eval(`[...document.querySelectorAll(".times button")].find((e) => e.innerText === "range").click()`)
	p.until(`document.querySelector("#range input[name=from]")`)
	fill := func(from, to string) {
		p.eval(fmt.Sprintf(`(() => { const [from, to] = document.querySelectorAll("#range input"); from.value = %q; to.value = %q; })()`, from, to))
	}
	press := `document.querySelector("#range button").click()`
	fill("2026-11-21T12:00", "2026-11-21T11:00")
	p.eval(press)
	p.until(`document.querySelector("#range [role=alert]").innerText === "The end must be after the start."`)
	fill("2026-11-20T17:30", "2026-11-20T20:30")
	p.eval(`document.querySelector("#foot button").click(), document.querySelector("#foot button").click()`) // requests the data again
	p.until(`document.querySelector("#range input").value === "2026-11-20T17:30"`)
	p.eval(press)
	p.until(`location.hash.includes("from=2026-11-20T12%3A00%3A00Z&to=2026-11-20T15%3A00%3A00Z")`)
	p.until(`document.querySelector("main").innerText.includes("Requests by verdict, 20 Nov, 17:30 to 20:30")`)
	if text := p.text(".tile .big"); text == all {
		t.Errorf("the counts of the range equal those of the day: %s", text)
	}
	p.eval(`[...document.querySelectorAll("nav a")].find((e) => e.innerText === "Crawlers").click()`)
	p.until(`document.querySelector("h2")?.innerText.endsWith("crawlers, 20 Nov, 17:30 to 20:30")`)
	p.eval(`[...document.querySelectorAll(".times a")].find((e) => e.innerText === "7d").click()`)
	p.until(`document.querySelector("h2")?.innerText.endsWith("last 7 days") && !location.hash.includes("from=")`)
}

// TestBeginsWithCounting checks that a chart begins where counting began. A number is
// compared with the previous period only if all of that period was counted.
func TestBeginsWithCounting(t *testing.T) {
	t.Parallel()
	day := scriptedDay(t)
	p := open(t, serveDay(t, day), wide)
	p.show("#/now?window=24h")
	if n := p.eval(`[...document.querySelectorAll(".tile")].filter((e) => e.innerText.includes("before: ")).length`); n != "4" {
		t.Errorf("%s of 4 tiles show the previous period", n)
	}
	if p.eval(`document.querySelector(".begins") === null && document.querySelector(".bars").getAttribute("aria-valuemax") === "23"`) != "true" {
		t.Error("the last 24 of 72 counted hours are shown as the begin of counting")
	}
	p.show("#/now?window=7d")
	p.until(`document.querySelector(".begins")?.innerText.startsWith("Counting began 2026-11-18 14:20:30 UTC")`)
	if most := p.eval(`document.querySelector(".bars").getAttribute("aria-valuemax")`); most != "72" {
		t.Errorf("the chart has %s steps after the first, want the 72 hours that were counted", most)
	}
	if p.eval(`document.querySelector("main").innerText.includes("before: ")`) == "true" {
		t.Error("a number is compared with days that were not counted")
	}
	day.Ledger.Since = noon.Add(-20 * time.Minute).UnixMilli()
	p.show("#/now?window=1h")
	p.until(`document.querySelector(".bars").getAttribute("aria-valuemax") === "20"`)
}
