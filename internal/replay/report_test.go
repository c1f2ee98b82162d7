package replay

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostileReport is that of a log in which clients try to break out of the
// report.
func hostileReport(t *testing.T) *Report {
	t.Helper()
	log := combined(noon, `GET /private/<script>alert(1)</script>\x22\x1b[31m`, gptbot) +
		combined("22/Nov/2026:12:00:00", `GET /private/\xe2\x80\xae<b>&amp;'`, `GPTBot/1.2 <img src=x onerror=alert(1)>`) +
		combined("22/Nov/2026:12:00:00", `GET http://<i>.example/private/x`, googlebot) +
		combined("22/Nov/2026:12:00:00", `GET /robots.txt`, googlebot) +
		combined("22/Nov/2026:12:00:00", `GET /x`, "<script>Bot/1.0 (+http://x)") +
		"</td><script>alert(2)</script> \x1b]0;x\x07\n"
	return replayed(t, log, func(o *Options) {
		o.Versions = []Version{{Name: "<robots>.txt", Body: []byte("User-agent: *\nDisallow: /private/\nDisallow: /private/<\n\nUser-agent: GPTBot\nDisallow: /private/<u>\nDisallow: /\n")}}
		o.Now = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	})
}

// TestHTML makes a page of hostile input: its tags are those of the template,
// balanced, and nothing in it is fetched or run.
func TestHTML(t *testing.T) {
	t.Parallel()
	r := hostileReport(t)
	r.Incomplete = "<script>"
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	known := regexp.MustCompile(`^(html|head|meta|title|style|body|main|h1|h2|p|div|b|code|em|strong|table|thead|tbody|tr|th|td|span|i|svg|g|rect)$`)
	d := xml.NewDecoder(strings.NewReader(strings.Replace(text, "<!doctype html>", "", 1)))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta"}, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !known.MatchString(start.Name.Local) {
			t.Errorf("an element %s", start.Name.Local)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "src" || strings.Contains(a.Value, "url(") {
				t.Errorf("%s has %s=%q", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' || c == '\u202e' {
			t.Errorf("a character %U", c)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "default-src 'none'", "&lt;script&gt;alert(1)", "<svg", "Googlebot", "2026-11-22T12:00:00Z (200)", "standard input:6", "Not all was read"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the page", want)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := hostileReport(t).WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%v, %q", err, rows)
	}
	if got := strings.Join(rows[1], "|"); got != "GPTBot|ai_training|2|0|2|0|0|0||0|2026-11-22T12:00:00Z" {
		t.Error(got)
	}
	if got := strings.Join(rows[2], "|"); got != "Googlebot|search|2|1|1|0|0|1|2026-11-22T12:00:00Z|200|2026-11-22T12:00:00Z" {
		t.Error(got)
	}
}

// TestJSON compares all of the JSON of a small log with what docs/audit.md says.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := replayed(t, combined(noon, "GET /private/a?b", gptbot)+combined(noon, "GET /robots.txt", gptbot)+combined(noon, "GET /private/a", firefox)+"x\n", func(o *Options) {
		o.Now = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	})
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	const want = `{
	"created": "2026-11-23T00:00:00Z", "lines": 4,
	"logs": [{"name": "standard input", "format": "combined", "lines": 4, "malformed": 1}],
	"malformed": 1,
	"malformed_examples": [{"log": "standard input", "line": 4, "problem": "no time such as [02/Jan/2006:15:04:05 -0700]", "text": "x"}],
	"other": 0, "other_site": 0, "other_time": 0, "browsers": 1,
	"requests": 2, "disallowed": 1, "stale": 0, "exempt": 0,
	"first": "2026-11-21T12:00:00Z", "last": "2026-11-21T12:00:00Z", "sites": [], "hosts": [],
	"robots": [{"name": "robots.txt", "from": null, "rules": 1}],
	"classes": [{"class": "ai_training", "crawlers": 1, "requests": 2, "disallowed": 1, "stale": 0, "exempt": 0, "would_block": 1}],
	"crawlers": [{"token": "GPTBot", "class": "ai_training", "requests": 2, "allowed": 1, "disallowed": 1, "stale": 0, "exempt": 0,
		"robots_requests": 1, "robots_read": "2026-11-21T12:00:00Z", "robots_status": 200, "last": "2026-11-21T12:00:00Z", "answers": {"bytes": 10,
		"allowed": {"2xx": 0, "3xx": 0, "refused": 0, "not_found": 0, "too_many": 0, "4xx": 0, "5xx": 0},
		"forbidden": {"2xx": 1, "3xx": 0, "refused": 0, "not_found": 0, "too_many": 0, "4xx": 0, "5xx": 0},
		"unruled": {"2xx": 0, "3xx": 0, "refused": 0, "not_found": 0, "too_many": 0, "4xx": 0, "5xx": 0},
		"robots_txt": {"2xx": 1, "3xx": 0, "refused": 0, "not_found": 0, "too_many": 0, "4xx": 0, "5xx": 0}}}],
	"rules": [{"rule": "Disallow: /private/", "line": 2, "group": "*", "robots": "robots.txt", "requests": 1, "crawlers": [{"token": "GPTBot", "requests": 1}]}],
	"paths": [{"path": "/private/a", "token": "GPTBot", "requests": 1, "excess": 0}],
	"days": [{"date": "2026-11-21", "requests": 2, "disallowed": 1}],
	"findings": [], "referrals": [{"operator": "OpenAI", "fetches": 2, "visits": 0, "from": []}],
	"notes": []
}`
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got %s", out.String())
	}
}

// TestWithoutTimes replays a log that has none.
func TestWithoutTimes(t *testing.T) {
	t.Parallel()
	r := replayed(t, untimed("/robots.txt", gptbot)+untimed("/private/", gptbot), func(o *Options) {
		o.Versions = []Version{{Name: "a", Body: []byte("User-agent: *\nDisallow: /else\n")}, {Name: "b", From: time.Unix(1, 0), Body: []byte(rules)}}
	})
	if r.Disallowed != 1 || r.First != nil || len(r.Days) != 0 || r.Crawlers[0].ReadText() != "yes (200)" || r.Crawlers[0].Last != nil {
		t.Errorf("%+v", r)
	}
}

// TestLogsInOrderOfTime reads rotated logs that are named the newest first.
func TestLogsInOrderOfTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newest := writeFile(t, dir, "access.log", combined("22/Nov/2026:00:00:00", "GET /x", googlebot))
	oldest := writeFile(t, dir, "access.log.1", combined("21/Nov/2026:00:00:00", "GET /x", googlebot))
	r, err := Run(context.Background(), Options{Logs: []string{newest, oldest}, Versions: oneVersion(rules)})
	if err != nil || r.Logs[0].Name != oldest || r.Logs[1].Name != newest {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestProgressText(t *testing.T) {
	for _, tc := range []struct {
		bytes, total, lines int64
		elapsed             time.Duration
		want                string
	}{
		{0, 1000, 0, 0, "[....................]   0 %  0 lines, 0/s"},
		{250, 1000, 5000, 500 * time.Millisecond, "[#####...............]  25 %  5000 lines, 10 k/s"},
		{250, 1000, 5000000, 2 * time.Second, "[#####...............]  25 %  5.00 M lines, 2.50 M/s, 6s left"},
		{2000, 1000, 3e9, time.Hour, "[####################] 100 %  3.00 G lines, 833 k/s, 0s left"},
		{1, 1 << 50, 1, time.Hour, "[....................]   0 %  1 lines, 0/s"},
		{0, 0, 70000, 2 * time.Second, "70 k lines, 35 k/s"},
	} {
		var p Progress
		p.Bytes.Store(tc.bytes)
		p.Total.Store(tc.total)
		p.Lines.Store(tc.lines)
		if got := p.Text(tc.elapsed); got != tc.want || len(got) > 79 {
			t.Errorf("got  %q\nwant %q", got, tc.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"2026-11-20":                "2026-11-20T00:00:00Z",
		"2026-11-20 10:30":          "2026-11-20T10:30:00Z",
		"2026-11-20T10:30:05+02:00": "2026-11-20T08:30:05Z",
		"24h":                       "2026-11-20T12:00:00Z",
		"30d":                       "2026-10-22T12:00:00Z",
		"90m":                       "2026-11-21T10:30:00Z",
		"yesterday":                 "", "-1h": "", "-1d": "", "99999999d": "", "d": "", "": "", "0001-01-01": "",
	} {
		at, err := ParseTime(in, now)
		switch {
		case want == "":
			if err == nil {
				t.Errorf("%q is %s", in, at)
			}
		case err != nil || at.UTC().Format(time.RFC3339) != want:
			t.Errorf("%q is %s (%v), want %s", in, at, err, want)
		}
	}
}
