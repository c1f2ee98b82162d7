package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// many is a day with many paths in violations.
type many struct {
	*report.Source
	rows int
}

func (m many) Violations(f report.Filter, after, limit int) report.Violations {
	list := m.Source.Violations(f, 0, 1)
	row := list.Violations[0]
	list.Total, list.Next, list.Violations = m.rows, "", nil
	for i := after; i < m.rows; i++ {
		if len(list.Violations) == limit {
			list.Next = fmt.Sprint(i)
			break
		}
		row.Path, row.Count = fmt.Sprintf("/path/%d", i), uint64(i+1)
		list.Violations = append(list.Violations, row)
	}
	return list
}

// Crawlers returns as many crawlers.
func (m many) Crawlers(f report.Filter, after, limit int) report.Crawlers {
	list := m.Source.Crawlers(f, 0, 1)
	row := list.Crawlers[0]
	list.Total, list.Next, list.Crawlers = m.rows, "", nil
	for i := after; i < m.rows; i++ {
		if len(list.Crawlers) == limit {
			list.Next = fmt.Sprint(i)
			break
		}
		row.Token, row.Requests = fmt.Sprintf("Bot%d", i), uint64(i+1)
		row.ID = row.Token
		list.Crawlers = append(list.Crawlers, row)
	}
	return list
}

// TestLongList checks that a long list is shown in parts, on demand.
func TestLongList(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, many{scriptedDay(t), 250}), narrow)
	p.visit("#/violations")
	for _, tc := range []struct {
		rows   int
		button string
	}{{100, "Show more (150 left)"}, {200, "Show more (50 left)"}, {250, ""}} {
		p.until(fmt.Sprintf(`document.querySelectorAll("main .table tbody tr").length === %d`, tc.rows))
		if got := p.text("main .plainbutton"); got != tc.button {
			t.Errorf("after %d rows the button has the text %q, want %q", tc.rows, got, tc.button)
		}
		if tc.button != "" {
			p.eval(`document.querySelector("main .plainbutton").click()`)
		}
	}
}

// TestLongListSorted checks that sorting applies to all rows, not only to the visible
// ones.
func TestLongListSorted(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, many{scriptedDay(t), 250}), wide)
	for view, first := range map[string]string{"violations": "/path/249", "crawlers": "Bot249"} {
		p.visit("#/" + view)
		p.eval(`[...document.querySelectorAll("main thead .sort")].find((e) => e.innerText.startsWith("Requests")).click()`)
		p.until(fmt.Sprintf(`document.querySelector("main tbody tr")?.innerText.includes(%q)`, first))
		p.settled()
		if got := p.eval(`document.querySelectorAll("main .table tbody tr").length`) + " " + p.text("main .plainbutton"); got != "100 Show more (150 left)" {
			t.Errorf("%s: %s", view, got)
		}
		p.eval(`document.querySelector("main .plainbutton").click()`)
		p.until(`document.querySelectorAll("main .table tbody tr").length === 200`)
	}
}

// TestLongListOpened checks that the details of an open crawler stay visible if sorting
// removes its row from the visible part.
func TestLongListOpened(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, opened{many{scriptedDay(t), 250}}), wide)
	for hash, want := range map[string]string{"#/crawlers?open=Bot3": "row", "#/crawlers?open=Bot3&sort=requests": "row", "#/crawlers?open=Bot3&sort=-requests": "panel"} {
		p.show(hash)
		if got := p.eval(`[...document.querySelectorAll("main .exports")].map((e) => e.closest("table") ? "row" : "panel").join()`); got != want {
			t.Errorf("%s: the details are in a %q, want a %q", hash, got, want)
		}
	}
}

// opened is such a day on which any crawler can be opened.
type opened struct{ many }

func (o opened) Crawler(f report.Filter, id string) (report.CrawlerDetail, bool) {
	d, ok := o.many.Crawler(f, "GPTBot")
	d.Crawler.ID, d.Crawler.Token = id, id
	return d, ok
}

// TestLongestList checks that if a list is longer than the server's limit, the page
// states that, and downloads contain the same number of rows as the page.
func TestLongestList(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, many{scriptedDay(t), 1200}), wide)
	p.visit("#/violations?group=crawler")
	if text := p.text("main"); !strings.Contains(text, "Only the latest 1,000 of 1,200 rows are included. Narrow the filters.") {
		t.Errorf("it does not say what is left out: %.600s", text)
	}
	p.visit("#/crawlers?rows=1000")
	if text := p.text("main"); !strings.Contains(text, "200 more are not shown; narrow the filters.") {
		t.Errorf("the page does not state how many rows are hidden: %.300s", text)
	}
	for _, view := range []string{"violations", "crawlers"} {
		p.visit("#/" + view)
		got := p.eval(fmt.Sprintf(`Promise.all([...document.querySelectorAll(".downloads a")].map((a) => fetch(a.href))).then(async ([csv, json]) =>
			(await csv.text()).trim().split("\n").length - 1 + " " + (await json.json()).%s.length)`, view))
		if got != "1000 1000" {
			t.Errorf("rows of %s in CSV and JSON: %s", view, got)
		}
	}
}

// named is a day with a request of a client that shares its row with other clients.
type named struct {
	*report.Source
	token, name string
}

func (n named) Violations(f report.Filter, after, limit int) report.Violations {
	list := n.Source.Violations(f, 0, 2)
	list.Total = 2
	list.Violations[0].Token, list.Violations[0].Class, list.Violations[0].Name = n.token, "other", n.name
	return list
}

func (n named) Crawler(f report.Filter, id string) (report.CrawlerDetail, bool) {
	d, ok := n.Source.Crawler(f, id)
	for i := range d.RecentSamples {
		d.RecentSamples[i].Name = n.name
	}
	for i := range d.Paths {
		d.Paths[i].Name = n.name
	}
	return d, ok
}

// TestNamesOfOthers checks that the violations show the name of a client without its
// own row, and the search finds the name.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	name := "Foo<b>Bot" + strings.Repeat("x", 55) // as long as any
	for token, want := range map[string]string{"_other": name, "_spoofed": "false name " + name} {
		p := open(t, serveDay(t, named{scriptedDay(t), token, name}), look{width: 1280, height: 900})
		p.visit("#/violations?q=foo%3Cb")
		if got := p.text("main tbody th a"); got != want {
			t.Errorf("%s: found %q, want %q", token, got, want)
		}
		if got := p.eval(`document.querySelector("main tbody th a").getAttribute("href")`); got != "#/crawlers?open="+token+"%3Aother" {
			t.Errorf("%s links to %s", token, got)
		}
		if wide := p.eval(`String(document.querySelector("main tbody th").offsetWidth > 320)`); wide != "false" {
			t.Errorf("%s: a long name leaves no room for the page", token)
		}
		p.visit("#/violations?group=crawler")
		if got := p.text("main tbody th"); strings.Contains(got, "Foo") {
			t.Errorf("one of several names is shown for a group: %s", got)
		}
		p.show("#/crawlers?open=GPTBot")
		for _, part := range []string{"Last violations", "Pages with violations"} {
			if got := p.text(".scroll[aria-label^='" + part + "'] tbody tr:first-child"); !strings.Contains(got, "example.com, as Foo<b>Bot") {
				t.Errorf("%s: %s", part, got)
			}
		}
	}
}

// imitated is a day with requests of clients that spoof Googlebot.
type imitated struct{ *report.Source }

func (i imitated) Crawlers(f report.Filter, after, limit int) report.Crawlers {
	list := i.Source.Crawlers(f, after, limit)
	list.Crawlers[0].SpoofedRequests = 3
	return list
}

// TestImpostors checks that the link to spoofed clients keeps the site and the period,
// but not the class and the identity, which differ for spoofed clients.
func TestImpostors(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, imitated{scriptedDay(t)}), wide)
	p.visit("#/crawlers?class=search&identity=verified&site=example.com&window=7d")
	p.eval(`[...document.querySelectorAll("main a")].find((e) => e.innerText === "and 3 spoofed").click()`)
	p.until(`document.querySelector(".detail .chart")`)
	if got := p.eval(`location.hash`); got != "#/crawlers?open=_spoofed%3Aother&site=example.com&window=7d" {
		t.Errorf("the link points to %s", got)
	}
}

// closed is a day with more blocked requests than violations. The guard also blocked
// spoofed clients, and requests while no rules were known.
type closed struct{ *report.Source }

func (c closed) Summary(f report.Filter) report.Summary {
	s := c.Source.Summary(f)
	s.Blocked = s.Disallowed + 5
	return s
}

// TestBlockedForAnotherReason checks that the note counts blocked requests as
// violations only where they are violations.
func TestBlockedForAnotherReason(t *testing.T) {
	t.Parallel()
	day := scriptedDay(t)
	for want, views := range map[string]dashboard.Views{"would be blocked": day, "would be blocked; 284 other requests blocked": closed{day}} {
		if got := open(t, serveDay(t, views), wide).text(".tile:nth-child(2) .note"); !strings.HasSuffix(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestFalseNames checks that the page explains which rules apply to spoofed clients.
func TestFalseNames(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/crawlers?open=_spoofed:other")
	text := p.text(".detail")
	for _, want := range []string{"The stricter of the group of the name and the * group applies.", "explain --identity spoofed --user-agent"} {
		if !strings.Contains(text, want) {
			t.Errorf("the details lack %q: %.600s", want, text)
		}
	}
}
