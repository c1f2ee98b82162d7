package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostLine makes a line of the Combined format with a leading host.
func hostLine(host, at, target, userAgent string) string {
	return host + " " + combined(at, "GET "+target, userAgent)
}

// TestHosts judges each host by its own robots.txt only.
func TestHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"A.example/robots-2026-11-01.txt": "",
		"A.example/robots-2026-11-21.txt": "User-agent: *\nDisallow: /a\n",
		"b.example/robots.txt":            "User-agent: *\nDisallow: /b\n",
		"münchen.example/robots.txt":      "User-agent: *\nDisallow: /m\n",
		".git/robots.txt":                 "User-agent: *\nDisallow: /\n",
		"empty/notes.md":                  "",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir, name, text)
	}
	versions, err := ReadVersions(dir)
	if err != nil || len(versions) != 4 {
		t.Fatalf("%+v, %v", versions, err)
	}
	const before, early, late = "20/Nov/2026:12:00:00", "21/Nov/2026:12:00:00", "22/Nov/2026:12:00:00"
	for _, tc := range []struct {
		name, log string
		sites     []string
		want      [4]uint64 // requests, disallowed, stale, other sites
		note      string
	}{
		{"the rule of its host", hostLine("a.example", late, "/a", gptbot), nil, [4]uint64{1, 1, 0, 0}, ""},
		{"with a port, in other case", hostLine("A.Example:8080", late, "/a", gptbot), nil, [4]uint64{1, 1, 0, 0}, ""},
		{"the rule of another host", hostLine("b.example", late, "/a", gptbot), nil, [4]uint64{1, 0, 0, 0}, ""},
		{"the other's own", hostLine("b.example", late, "/b", gptbot), nil, [4]uint64{1, 1, 0, 0}, ""},
		{"a host without a file", hostLine("c.example", late, "/a", gptbot), nil, [4]uint64{0, 0, 0, 1}, "There is no robots.txt for c.example (1 lines);"},
		{"no host", hostLine("a.example", late, "/a", gptbot) + hostLine("-", late, "/a", gptbot), nil, [4]uint64{1, 1, 0, 1}, "1 requests have no host in the log"},
		{"one site only", hostLine("a.example", late, "/a", gptbot) + hostLine("b.example", late, "/b", gptbot), []string{"b.example"}, [4]uint64{1, 1, 0, 1}, ""},
		{"an IDN in punycode", hostLine("xn--mnchen-3ya.example", late, "/m", gptbot), []string{"https://München.example"}, [4]uint64{1, 1, 0, 0}, ""},
		{"the version of the time", hostLine("a.example", before, "/a", gptbot), nil, [4]uint64{1, 0, 0, 0}, ""},
		{"within 24 hours", hostLine("a.example", early, "/a", gptbot), nil, [4]uint64{1, 0, 1, 0}, ""},
		{"within 24 hours, but read", hostLine("a.example", early, "/robots.txt", gptbot) + hostLine("a.example", early, "/a", gptbot), nil, [4]uint64{2, 0, 1, 0}, ""},
		{"read of another host", hostLine("b.example", early, "/robots.txt", gptbot) + hostLine("a.example", early, "/a", gptbot), nil, [4]uint64{2, 0, 1, 0}, ""},
		{"hosts in turn", strings.Repeat(hostLine("a.example", late, "/a", gptbot)+hostLine("b.example", late, "/a", gptbot)+hostLine("a.example", before, "/a", gptbot), 9), nil, [4]uint64{27, 9, 0, 0}, ""},
	} {
		r := replayed(t, tc.log, func(o *Options) { o.Versions, o.Sites = versions, tc.sites })
		if got := [4]uint64{r.Requests, r.Disallowed, r.Stale, r.OtherSiteLines}; got != tc.want {
			t.Errorf("%s: %v, want %v (%+v)", tc.name, got, tc.want, r.Rules)
		}
		if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
			t.Errorf("%s: notes %q, want %q", tc.name, notes, tc.note)
		}
		for _, v := range r.Robots {
			if strings.Contains(v.Name, "A.example") == (v.From == nil) {
				t.Errorf("%+v", v)
			}
		}
	}
}

// TestSeveralHosts expects a note that one robots.txt judged all hosts.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	log := strings.Repeat(hostLine("a.example", noon, "/", gptbot), 200) + hostLine("b.example", noon, "/", gptbot)
	r := replayed(t, log, func(o *Options) { o.Now = time.Unix(2e9, 0) })
	const want = "The logs contain several hosts, and all were judged by the same robots.txt: a.example (200 lines), b.example (1 lines)."
	if notes := strings.Join(r.Notes, " "); !strings.HasPrefix(notes, want) {
		t.Error(notes)
	}
	r = replayed(t, log, func(o *Options) { o.Sites = []string{"a.example"} })
	if len(r.Notes) > 0 || r.OtherSiteLines != 1 {
		t.Errorf("%q, %d", r.Notes, r.OtherSiteLines)
	}
}
