package dashboard

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// No cell of a CSV file is a formula to a spreadsheet. (RFC 4180 has no CR alone:
// the writer leaves it out.)
func TestNoFormulas(t *testing.T) {
	hostile := []string{`=HYPERLINK("http://evil")`, "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "plain", "", "a=1", "\n=1"}
	want := []string{`'=HYPERLINK("http://evil")`, "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'=1", "'＝1", "plain", "", "a=1", "'\n=1"}
	views := &examples{t: t, change: func(v any) {
		list := v.(*report.Violations)
		row := list.Violations[0]
		list.Violations = nil
		for _, text := range hostile {
			row.Path = text
			list.Violations = append(list.Violations, row)
		}
	}}
	w := ask(views, "GET", "/violations.csv")
	rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(hostile)+1 {
		t.Fatalf("%d rows, want %d", len(rows), len(hostile)+1)
	}
	for i, want := range want {
		if got := rows[i+1][4]; got != want {
			t.Errorf("%q became %q", hostile[i], got)
		}
	}
}
