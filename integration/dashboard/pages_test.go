package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// many is a day with many paths outside robots.txt.
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

// Crawlers are as many.
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

// A long list is shown in parts, as many as somebody asks for.
func TestLongList(t *testing.T) {
	p := open(t, serveDay(t, many{scriptedDay(t), 250}), narrow)
	p.visit("#/violations")
	for _, tc := range []struct {
		rows   int
		button string
	}{{100, "Show more (150 left)"}, {200, "Show more (50 left)"}, {250, ""}} {
		p.until(fmt.Sprintf(`document.querySelectorAll("main .table tbody tr").length === %d`, tc.rows))
		if got := p.text("main .plainbutton"); got != tc.button {
			t.Errorf("after %d rows the button says %q, want %q", tc.rows, got, tc.button)
		}
		if tc.button != "" {
			p.eval(`document.querySelector("main .plainbutton").click()`)
		}
	}
}

// Another order is one of all rows, not of those that are shown.
func TestLongListSorted(t *testing.T) {
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

// Of a list that is longer than the server gives at once the page says so, and saves
// as many rows as it shows.
func TestLongestList(t *testing.T) {
	p := open(t, serveDay(t, many{scriptedDay(t), 1200}), wide)
	p.visit("#/violations?group=crawler")
	if text := p.text("main"); !strings.Contains(text, "Made of the latest 1,000 rows; 200 more are left out. Narrow the filters.") {
		t.Errorf("it does not say what is left out: %.600s", text)
	}
	p.visit("#/crawlers?rows=1000")
	if text := p.text("main"); !strings.Contains(text, "200 more are not shown; narrow the filters.") {
		t.Errorf("it does not say what is not shown: %.300s", text)
	}
	for _, view := range []string{"violations", "crawlers"} {
		p.visit("#/" + view)
		got := p.eval(fmt.Sprintf(`Promise.all([...document.querySelectorAll(".downloads a")].map((a) => fetch(a.href))).then(async ([csv, json]) =>
			(await csv.text()).trim().split("\n").length - 1 + " " + (await json.json()).%s.length)`, view))
		if got != "1000 1000" {
			t.Errorf("CSV and JSON of %s have so many rows: %s", view, got)
		}
	}
}
