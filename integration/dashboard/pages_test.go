package dashboard

import (
	"fmt"
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
		row.Path = fmt.Sprintf("/path/%d", i)
		list.Violations = append(list.Violations, row)
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
