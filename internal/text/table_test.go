package text

import (
	"strings"
	"testing"
)

var verdicts = []Column{{"VERDICT", VerdictColumn}, {"URL", LongColumn}, {"CRAWLERS", ListColumn}}

// render returns the table for a terminal of the given width.
func render(t *testing.T, width int, color bool) string {
	t.Helper()
	var b strings.Builder
	s := NewTerminal(&b, width, color)
	table := NewTable(s, verdicts...)
	table.AddRow("disallowed", "/a/long/path/to/a/page.html?with=a&query=too", "Sogou web spider 3, Googlebot-Image 2")
	table.AddRow("allowed (3)", "/", "GPTBot 1")
	table.Flush()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTable(t *testing.T) {
	for _, tc := range []struct {
		width int
		want  string
	}{
		{0, `
VERDICT      URL                                           CRAWLERS
disallowed   /a/long/path/to/a/page.html?with=a&query=too  Sogou web spider 3, Googlebot-Image 2
allowed (3)  /                                             GPTBot 1
`},
		{60, `
VERDICT      URL                     CRAWLERS
disallowed   /a/long/path/to/a/pag…  Sogou web spider 3,
                                     Googlebot-Image 2
allowed (3)  /                       GPTBot 1
`},
		{50, `
VERDICT      URL               CRAWLERS
disallowed   /a/long/path/to…  Sogou web spider 3,
                               Googlebot-Image 2
allowed (3)  /                 GPTBot 1
`},
		{30, `
VERDICT   disallowed
URL
  /a/long/path/to/a/page.html?with=a&query=too
CRAWLERS  Sogou web spider 3,
          Googlebot-Image 2

VERDICT   allowed (3)
URL       /
CRAWLERS  GPTBot 1
`},
	} {
		got := render(t, tc.width, false)
		if got != tc.want[1:] {
			t.Errorf("width %d:\n%s\nwant\n%s", tc.width, got, tc.want[1:])
		}
	}
}

// TestTableFits checks for each width that lines fit and names are not broken.
func TestTableFits(t *testing.T) {
	for width := 30; width < 130; width++ {
		got := render(t, width, true)
		for _, name := range []string{"Sogou web spider 3", "Googlebot-Image 2", "GPTBot", "disallowed"} {
			if !strings.Contains(got, name) {
				t.Errorf("width %d breaks %s:\n%s", width, name, got)
			}
		}
		if strings.Count(got, "\x1b[31mdisallowed\x1b[m") != 1 || strings.Count(got, "\x1b[32mallowed\x1b[m") != 1 {
			t.Errorf("width %d: the verdicts have no color: %q", width, got)
		}
		for line := range strings.Lines(got) {
			if n := displayWidth(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, "query=too") {
				t.Errorf("width %d: a line of %d columns: %q", width, n, line)
			}
		}
	}
}
