package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// crowded is a day with the longest possible content in all cells.
type crowded struct{ *report.Source }

// fill gives a crawler large counts, several identities, a rate above its Crawl-delay
// and requests of spoofed clients.
func fill(c *report.Crawler) {
	c.Requests, c.Disallowed, c.Slowed, c.SpoofedRequests = 12_345_678, 1_234_567, 123_456, 123_456
	c.Previous = &report.RequestCounts{Requests: 1_000_000, Disallowed: 1}
	c.Identities = report.Identities{Verified: 1_234_567, Claimed: 9_999_999, Unknown: 1_111_112, Spoofed: 1_234}
	c.Rate = report.RequestRate{PerMinute: 1_234, PerMinuteOfDay: 1_000, PeakPerMinute: 9_999, CrawlDelay: 10, DelayLine: 5, CrawlDelaySupport: "undocumented", Exceeds: true}
	if c.RobotsFetch != nil {
		c.RobotsFetch.Current, c.RobotsFetch.Version = false, "a14ce882a14ce882a14ce882a14ce882a14ce882a14ce882a14ce882a14ce882"
	}
	c.RequestsSinceFetch = 12_345_678
	if c.TopPath != nil {
		c.TopPath.Host = "a-rather-long-name-of-a-tenant.shop.example.com"
	}
}

func (d crowded) Crawlers(f report.Filter, after, limit int) report.Crawlers {
	list := d.Source.Crawlers(f, after, limit)
	for i := range list.Crawlers {
		fill(&list.Crawlers[i])
	}
	return list
}

func (d crowded) Summary(f report.Filter) report.Summary {
	s := d.Source.Summary(f)
	for i := range s.Top {
		fill(&s.Top[i])
	}
	s.Changes = nil
	for i := range 6 {
		s.Changes = append(s.Changes, report.SiteChange{
			At: noon.Add(-5*time.Hour + time.Duration(i)*10*time.Minute), Site: "example.com", Kind: ledger.ModeChange, From: "enforce", To: "monitor",
		})
	}
	s.Changes = append(s.Changes, report.SiteChange{At: noon.Add(-10 * time.Minute), Site: "example.com", Kind: ledger.RobotsChange})
	s.SearchBlocked = []report.BlockedSearchEngine{
		{Site: "example.com", Token: "Googlebot", Identity: "verified", Blocked: 3, Last: noon.Add(-time.Hour), Path: "/a/rather/long/path/to/something?with=a&query=of-several&parts=1", Rule: "Disallow: /a/", Line: 3},
		{Site: "example.com", Token: "bingbot", Identity: "claimed", Blocked: 2},
	}
	s.SitesNow[0].Hosts = nil
	for i := range 30 {
		s.SitesNow[0].Hosts = append(s.SitesNow[0].Hosts, report.HostCount{
			Host: fmt.Sprintf("tenant-%d.example.com", i), Estimate: report.Estimate{Count: 100, First: noon.Add(-time.Hour), Last: noon}, Disallowed: uint64(60 - 2*i), Blocked: uint64(30 - i),
		})
	}
	return s
}

func (d crowded) Violations(f report.Filter, after, limit int) report.Violations {
	list := d.Source.Violations(f, after, limit)
	for i := range list.Violations {
		v := &list.Violations[i]
		v.Host = "a-rather-long-name-of-a-tenant.shop.example.com"
		v.Path = "/articles/2026/11/a-heading-of-many-words-in-a-row/index.html?page=2&sort=up"[:20+3*i%57]
		v.BlockedAtMost = v.Count * uint64(i%3) / 2
	}
	return list
}

// inside lists the elements that exceed their panel.
const inside = `JSON.stringify([...document.querySelectorAll("main .panel")].flatMap((panel) => {
	const edge = panel.getBoundingClientRect();
	return [...panel.querySelectorAll("table, p, td, th, dd, code, svg.spark, .badge")].filter((e) => !e.closest(".scroll, .unseen"))
		.filter((e) => { const r = e.getBoundingClientRect(); return r.width > 1 && (r.right > edge.right + 1 || r.left < edge.left - 1); })
		.map((e) => e.outerHTML.slice(0, 120));
}).slice(0, 3))`

// TestCrowded checks that tables stay within their cards, whatever their content.
func TestCrowded(t *testing.T) {
	t.Parallel()
	url := serveDay(t, crowded{scriptedDay(t)})
	for _, width := range []int64{390, 1190, 1280, 1440, 1600} {
		p := open(t, url, look{width: width, height: 900})
		for _, hash := range []string{"#/now", "#/now?site=example.com", "#/crawlers", "#/violations", "#/violations?group=crawler"} {
			p.show(hash)
			if out := p.eval(inside); out != "[]" {
				t.Errorf("%s at %d px: outside of its card: %s", hash, width, out)
			}
		}
	}
}

// TestPathsBreak checks that line breaks in a path leave no single letter on a line.
func TestPathsBreak(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, crowded{scriptedDay(t)}), narrow)
	for _, hash := range []string{"#/violations", "#/robots?site=example.com"} {
		p.show(hash)
		short := p.eval(`JSON.stringify([...document.querySelectorAll("main .path, main .source code")].flatMap((e) => {
			const range = document.createRange(), lines = new Map();
			for (let i = 0; i < e.firstChild.length; i++) {
				range.setStart(e.firstChild, i);
				range.setEnd(e.firstChild, i + 1);
				const { top } = range.getBoundingClientRect();
				lines.set(top, (lines.get(top) ?? "") + e.firstChild.data[i]);
			}
			const last = [...lines.values()].at(-1);
			return lines.size > 1 && last.length < 3 ? [[...lines.values()].join("|")] : [];
		}))`)
		if short != "[]" {
			t.Errorf("paths that break before their end: %s", short)
		}
	}
}

// TestFlagsDoNotOverlap checks that the chart combines neighbouring changes in one
// flag, which lists them.
func TestFlagsDoNotOverlap(t *testing.T) {
	t.Parallel()
	for _, l := range looks {
		p := open(t, serveDay(t, crowded{scriptedDay(t)}), l)
		p.show("#/now")
		p.until(`document.querySelectorAll(".flag").length >= 2`)
		near := p.eval(`(() => { const at = [...document.querySelectorAll(".flag .target")].map((e) => e.getBoundingClientRect().left).sort((a, b) => a - b);
			return JSON.stringify(at.filter((x, i) => i && x - at[i - 1] < 20)); })()`)
		if near != "[]" {
			t.Errorf("%d px: flags overlap at %s", l.width, near)
		}
		if text := p.eval(`document.querySelector(".flag.several .number").textContent`); text != "5" && text != "6" {
			t.Errorf("%d px: a flag of several changes shows %q", l.width, text)
		}
		p.eval(`document.querySelector(".flag.several").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`)
		p.until(`document.querySelector(".changes").open`)
	}
}

// TestTenants checks that a host of a wildcard site links to the requests for that
// host.
func TestTenants(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, crowded{scriptedDay(t)}), wide)
	p.show("#/now?site=example.com")
	row := `[...document.querySelectorAll(".panel")].find((e) => e.innerText.startsWith("Hosts of example.com")).querySelector("tbody tr")`
	if cells := p.eval(row + `.innerText.split(/\s+/).slice(0, 4).join(" ")`); cells != "tenant-0.example.com 100 60 30" {
		t.Errorf("the first tenant: %q", cells)
	}
	p.eval(row + `.querySelector("a").click()`)
	p.until(`location.hash === "#/violations?host=tenant-0.example.com&site=example.com"`)
	p.settled()
	if text := p.text("main"); p.eval(`document.querySelector(".downloads a").search.includes("host=tenant-0.example.com")`) != "true" || !strings.Contains(text, "Only the host tenant-0.example.com.") {
		t.Errorf("the page of a tenant: %.300s", text)
	}
}
