package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestBatchLines reads long lines, and a byte order mark only in front of the first line.
func TestBatchLines(t *testing.T) {
	t.Parallel()
	const robots = `{"id":1,"robots":"User-agent: *\nDisallow: /x","url":"/x"}`
	for name, tc := range map[string]struct {
		in   string
		want []string // the beginning of each response
	}{
		"a long line":       {robots + strings.Repeat(" ", 9<<20) + "\n" + robots + "\n", []string{`{"id":1,"allowed":false`, `{"id":1,"allowed":false`}},
		"a byte order mark": {"\ufeff" + robots + "\n\ufeff" + robots, []string{`{"id":1,"allowed":false`, `{"id":null,"allowed":true,"verdict":"unknown"`}},
	} {
		cmd := explainCommand(Config{})
		var out bytes.Buffer
		cmd.SetIn(strings.NewReader(tc.in))
		cmd.SetOut(&out)
		cmd.SetErr(new(bytes.Buffer))
		cmd.SetArgs([]string{"--batch"})
		_ = cmd.Execute() // the second mark is an error in its line
		answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(answers) < len(tc.want) { // the usage follows an error
			t.Errorf("%s: %.300q", name, answers)
			continue
		}
		for i, want := range tc.want {
			if !strings.HasPrefix(answers[i], want) || !json.Valid([]byte(answers[i])) {
				t.Errorf("%s: %.300s, want %s", name, answers[i], want)
			}
		}
	}
}
