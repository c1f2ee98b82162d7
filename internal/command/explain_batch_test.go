package command

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBatchByDirectory judges lines by the version that their host served at their time.
func TestBatchByDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.example/robots-2026-11-01.txt":           "User-agent: *\nDisallow: /old\n",
		"a.example/robots-2026-11-20T10:00:00Z.txt": "User-agent: *\nDisallow: /new\n",
		"b.example/robots.txt":                      "User-agent: zorkly\nDisallow: /\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(name, ":", "-")))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const zorkly = `"user_agent":"zorkly/1.0"`
	lines := []struct {
		line string
		want [2]string // the beginning and the end of the response, or a part of its error
	}{
		{`{"id":1,"host":"a.example","time":1793800000,"token":"x","url":"/old"}`, [2]string{`{"id":1,"allowed":false,"verdict":"disallowed","rule":"Disallow: /old"`, `"crawler":"x"`}},
		{`{"id":2,"host":"A.example:443","time":"1793800000","token":"x","url":"/new"}`, [2]string{`{"id":2,"allowed":true,"verdict":"allowed"`, `"crawler":"x"`}},
		{`{"id":3,"host":"a.example","time":"2026-11-20T11:00:00+01:00","token":"x","url":"/new"}`, [2]string{`{"id":3,"allowed":false`, `"crawler":"x"`}},
		{`{"id":4,"time":"2026-11-20T09:59:59.9Z","token":"x","url":"https://a.example/new"}`, [2]string{`{"id":4,"allowed":true,"verdict":"allowed"`, `"crawler":"x"`}},
		{`{"id":5,"host":"a.example","time":0,"token":"x","url":"/new"}`, [2]string{`{"id":5,"allowed":false`, `"crawler":"x"`}},
		{`{"id":6,"host":"b.example",` + zorkly + `,"url":"/x"}`, [2]string{`{"id":6,"allowed":false,"verdict":"disallowed","rule":"Disallow: /","line":2,"group":"zorkly"`, `"crawler":"zorkly","class":"other"`}},
		{`{"id":7,"host":"a.example",` + zorkly + `,"url":"/x"}`, [2]string{`{"id":7,"allowed":true,"verdict":"exempt"`, `"crawler":"zorkly","class":"other"`}},
		{`{"id":8,"host":"c.example",` + zorkly + `,"url":"/x"}`, [2]string{`{"id":8,"allowed":true,"verdict":"unknown"`, `"ambiguous":false}`}},
		{`{"id":9,"url":"/x"}`, [2]string{`{"id":9,"allowed":true,"verdict":"unknown"`, `"ambiguous":false}`}},
		{`{"id":10,"robots":"User-agent: *\nDisallow: /","url":"/x"}`, [2]string{`{"id":10,"allowed":false`, `"ambiguous":false}`}},
		{`{"id":11,"robots":"","host":"a.example","url":"/new"}`, [2]string{`{"id":11,"allowed":true,"verdict":"allowed"`, `"ambiguous":false}`}},
		{`{"id":12,"host":"a.example","time":"yesterday","url":"/new"}`, [2]string{`{"id":12,`, `"time\" is yesterday`}},
		{`{"id":13,"host":"a.example","time":-5,"url":"/new"}`, [2]string{`{"id":13,`, `"time\" is -5`}},
		{`{"id":16,"host":"a.example","time":"NaN","url":"/new"}`, [2]string{`{"id":16,`, `"time\" is NaN`}},
		{`{"id":14,"host":"a.example","time":"9999-01-01T00:00:00Z","url":"/new"}`, [2]string{`{"id":14,`, `"time\" is 9999`}},
		{`{"id":15,"host":"a.example","time":[1],"url":"/new"}`, [2]string{`{"id":15,`, `"time\" is [1]`}},
		{`{"url":5,"id":"sixteen"}`, [2]string{`{"id":"sixteen",`, `url cannot be of type number`}},
		{`{"id":17,`, [2]string{`{"id":null,`, `unexpected end`}},
		{`{"id":18,"host":"a.example","user_agent":null,"url":"/new"}`, [2]string{`{"id":18,"allowed":true,"verdict":"exempt"`, `"class":"browser"`}},
		{`{"id":19,"host":"a.example","user_agent":null,"token":"x","url":"/new"}`, [2]string{`{"id":19,"allowed":false`, `"crawler":"x"`}},
		{`{"id":20,"host":"a.example","user_agent":"","token":"x","url":"/new"}`, [2]string{`{"id":20,`, `leave out one`}},
		{`{"id":21,"host":"a.example","url":"/new"}`, [2]string{`{"id":21,"allowed":false`, `"ambiguous":false}`}},
	}
	cmd := explainCommand(Config{})
	var in, out bytes.Buffer
	for _, l := range lines {
		in.WriteString(l.line + "\n")
	}
	cmd.SetIn(&in)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs([]string{"--batch", "--robots", dir})
	if err := cmd.Execute(); err == nil {
		t.Error("the lines that make no sense pass for good ones")
	}
	answers := strings.Split(out.String(), "\n")
	for i, l := range lines {
		if i >= len(answers) || !strings.HasPrefix(answers[i], l.want[0]) || !strings.Contains(answers[i], l.want[1]) {
			t.Errorf("%s\nis answered %s\nwant %s", l.line, answers[min(i, len(answers)-1)], l.want)
		} else if !json.Valid([]byte(answers[i])) {
			t.Errorf("%s is no JSON", answers[i])
		}
	}
}

// BenchmarkBatch judges lines as sent by a database.
func BenchmarkBatch(b *testing.B) {
	robots := filepath.Join(b.TempDir(), "robots.txt")
	if err := os.WriteFile(robots, []byte("User-agent: *\nDisallow: /private/\nDisallow: /search\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /articles/\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	const line = `{"id":[1793500000,"192.0.2.1","www.example.com"],"user_agent":"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)","method":"GET","host":"www.example.com","url":"/articles/2026/10/a-title-of-some-length-21","time":1793500000}` + "\n"
	const lines = 1000
	in := strings.Repeat(line, lines)
	b.ReportAllocs()
	for b.Loop() {
		cmd := explainCommand(Config{})
		cmd.SetIn(strings.NewReader(in))
		cmd.SetOut(io.Discard)
		cmd.SetArgs([]string{"--batch", "--robots", robots})
		if err := cmd.Execute(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
}
