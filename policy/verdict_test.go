package policy

import "testing"

// judgeRow is a file, a request and the expected verdict.
type judgeRow struct {
	name, robots, token, target string
	allowed                     bool
}

// judgeRows are rows found by fuzzing, and seeds for fuzzing.
var judgeRows = []judgeRow{
	{"dots behind %2F in a path that has other dots, too", "User-agent: *\nAllow: /public\nDisallow: /priv\n", "Bot", "/./public%2F..%2Fprivate", false},
	{"dots behind %2F in a path that has %5C elsewhere", "User-agent: *\nAllow: /public\nDisallow: /priv\n", "Bot", "/public%2F..%2Fprivate%5Cx", false},
	{"a name with a star first names nobody", "User-agent: */x\nDisallow: /\n", "*", "/", true},
}

// checkRows judges each row.
func checkRows(t *testing.T, rows []judgeRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Helper()
			v := Parse([]byte(row.robots)).Select(true, row.token).Judge(TargetFromURL(row.target))
			if v.Allowed != row.allowed {
				t.Errorf("%q for %s: allowed is %t by %q, want %t; the file is\n%s", row.target, row.token, v.Allowed, v.Rule, row.allowed, row.robots)
			}
		})
	}
}

func TestRegressions(t *testing.T) { checkRows(t, judgeRows) }
