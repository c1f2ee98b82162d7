package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestBatchLines responds to each line that is too long, in order and with bounded memory.
func TestBatchLines(t *testing.T) {
	t.Parallel()
	const robots = `{"id":1,"robots":"User-agent: *\nDisallow: /x","url":"/x"}`
	long := strings.Repeat(`{"id":`, 2<<20)
	for name, tc := range map[string]struct {
		in   string
		want []string // the beginning of each response
		says string   // in the error
	}{
		"in the midst":      {robots + "\n" + long[:maxBatchLine] + "\n" + robots, []string{`{"id":1,"allowed":false`, `{"id":null,"allowed":true,"verdict":"unknown"`, `{"id":1,"allowed":false`}, "line 2: longer than 8 MiB"},
		"the last":          {robots + "\n" + long, []string{`{"id":1,"allowed":false`, `{"id":null,"allowed":true,"verdict":"unknown"`}, "line 2: longer than 8 MiB"},
		"a byte order mark": {"\ufeff" + robots + "\n\ufeff" + robots, []string{`{"id":1,"allowed":false`, `{"id":null,"allowed":true,"verdict":"unknown"`}, "line 2: "},
		"just so long":      {robots + strings.Repeat(" ", maxBatchLine-1-len(robots)) + "\n" + robots + "\n", []string{`{"id":1,"allowed":false`, `{"id":1,"allowed":false`}, ""},
	} {
		var out bytes.Buffer
		err := newBatch(nil).run(strings.NewReader(tc.in), &out)
		answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if (err != nil) != (tc.says != "") || len(answers) != len(tc.want) || !strings.Contains(out.String(), tc.says) {
			t.Errorf("%s: %v, %.300q", name, err, answers)
			continue
		}
		for i, want := range tc.want {
			if !strings.HasPrefix(answers[i], want) || !json.Valid([]byte(answers[i])) {
				t.Errorf("%s: %.300s, want %s", name, answers[i], want)
			}
		}
	}
}
