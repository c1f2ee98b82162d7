package replay

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestJSON compares the JSON of a small log with docs/audit.md.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := replayed(t, combined(noon, "GET /private/a?b", gptbot)+combined(noon, "GET /robots.txt", gptbot)+combined(noon, "GET /private/a", firefox)+"x\n", func(o *Options) {
		o.Now = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	})
	out, err := json.Marshal(r)
	if err != nil {
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
	"findings": [],
	"notes": []
}`
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got %s", out)
	}
}

// TestWithoutTimes replays a log without times.
func TestWithoutTimes(t *testing.T) {
	t.Parallel()
	r := replayed(t, untimed("/robots.txt", gptbot)+untimed("/private/", gptbot), func(o *Options) {
		o.Versions = []Version{{Name: "a", Body: []byte("User-agent: *\nDisallow: /else\n")}, {Name: "b", From: time.Unix(1, 0), Body: []byte(rules)}}
	})
	if r.Disallowed != 1 || r.First != nil || r.Crawlers[0].FormatLastFetch() != "yes (200)" || r.Crawlers[0].LastRequest != nil {
		t.Errorf("%+v", r)
	}
}

// TestLogsInOrderOfTime reads rotated logs whose names list the newest first.
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

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"2026-11-20":                "2026-11-20T00:00:00Z",
		"2026-11-20 10:30":          "2026-11-20T10:30:00Z",
		"2026-11-20T10:30:05+02:00": "2026-11-20T08:30:05Z",
		"24h":                       "2026-11-20T12:00:00Z",
		"30d":                       "2026-10-22T12:00:00Z",
		"90m":                       "2026-11-21T10:30:00Z",
		"yesterday":                 "", "-1h": "", "-1d": "", "99999999d": "", "-99999999d": "", "-200000d": "", "d": "", "": "", "0001-01-01": "",
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
