package replay

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/replay/internal/sample"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// compared replays a log on standard input by the texts before and after an edit.
func compared(t *testing.T, log, before, after string) *EditReport {
	t.Helper()
	r, err := Compare(context.Background(), Version{Body: []byte(before)}, Options{
		Logs: []string{"-"}, Stdin: strings.NewReader(log), Versions: oneVersion(after), Workers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCompare has one request at a time and an edit.
func TestCompare(t *testing.T) {
	t.Parallel()
	const all, none = "User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow:\n"
	for _, tc := range []struct {
		name, userAgent, target, before, after string
		token, change                          string // "" for no change
	}{
		{"blocked", googlebot, "/a", none, all, "Googlebot", "blocked"},
		{"opened", googlebot, "/a", all, none, "Googlebot", "opened"},
		{"blocked as before", googlebot, "/a", all, "User-agent: *\nDisallow: /a\n", "", ""},
		{"by another spelling of the rule", googlebot, "/~a", "User-agent: *\nDisallow: /~a\n", "User-agent: *\nDisallow: /%7Ea\n", "", ""},
		{"a browser", firefox, "/a", none, all, "", ""},
		{"without a name", "-", "/a", none, all, "", ""},
		{"robots.txt", googlebot, "/robots.txt", none, all, "", ""},
		{"a certificate validator", "InventedBot/1.0", "/.well-known/acme-challenge/x", none, all, "", ""},
		{"a class that * is not meant for", "curl/8.7.1", "/a", none, all, "", ""},
		{"the same, named now", "curl/8.7.1", "/a", all, "User-agent: curl\nDisallow: /\n", "curl", "blocked"},
		{"the same, named no more", "curl/8.7.1", "/a", "User-agent: curl\nDisallow: /\n", all, "curl", "opened"},
		{"a name that the new file knows", "Zorkly/2.0", "/a", all, "User-agent: zorkly\nDisallow: /\n", "zorkly", "blocked"},
		{"a name that the old file knows", "Zorkly/2.0", "/a", "User-agent: zorkly\nDisallow: /\n", all, "zorkly", "opened"},
		{"a name that nobody knows", "ZorklyBot/2.0", "/a", none, all, "_other", "blocked"},
		{"a browser but for a name", firefox + " Zorkly/1.0", "/a", "User-agent: zorkly\nDisallow: /\n", all, "zorkly", "opened"},
	} {
		r := compared(t, combined(noon, "GET "+tc.target+"?q", tc.userAgent), tc.before, tc.after)
		if tc.change == "" {
			if r.Blocked+r.Opened > 0 || len(r.Crawlers)+len(r.Rules)+len(r.Paths) > 0 {
				t.Errorf("%s: %+v", tc.name, r)
			}
			continue
		}
		if len(r.Crawlers) != 1 || len(r.Rules) != 1 || len(r.Paths) != 1 {
			t.Errorf("%s: %+v", tc.name, r)
			continue
		}
		if c, p := r.Crawlers[0], r.Paths[0]; c.Token != tc.token || c.Requests != 1 || p.Token != tc.token || p.Path != tc.target || p.Change != tc.change ||
			r.Rules[0].Change != tc.change || (r.Blocked == 1) != (tc.change == "blocked") || r.Blocked+r.Opened != 1 {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}

// TestCompareOrder puts what is blocked for search engines first, however much
// more of others there is.
func TestCompareOrder(t *testing.T) {
	t.Parallel()
	log := combined(noon, "GET /b", googlebot) + strings.Repeat(combined(noon, "GET /a", gptbot)+combined(noon, "GET /c", gptbot), 3)
	r := compared(t, log, "User-agent: *\nDisallow: /c\n", "User-agent: *\nDisallow: /a\nDisallow: /b\n")
	got := fmt.Sprintf("%+v %+v", r.Crawlers, r.Paths)
	const want = "[{Token:Googlebot Class:search Requests:1 Blocked:1 Opened:0} {Token:GPTBot Class:ai_training Requests:6 Blocked:3 Opened:3}] " +
		"[{Path:/b Token:Googlebot Change:blocked Requests:1 Excess:0 rank:0} {Path:/a Token:GPTBot Change:blocked Requests:3 Excess:0 rank:3} " +
		"{Path:/c Token:GPTBot Change:opened Requests:3 Excess:0 rank:3}]"
	if got != want {
		t.Errorf("%s", got)
	}
	if r.Rules[0].NewRule != "Disallow: /b" || r.Rules[2].OldLine != 2 || r.Blocks("search") != 1 || r.Blocks("") != 4 || r.Blocks("seo") != 0 {
		t.Errorf("%+v", r.Rules)
	}
}

// TestCompareNaive compares the counts of a long log with those that one finds
// who judges line by line.
func TestCompareNaive(t *testing.T) {
	t.Parallel()
	const lines = 20000
	after := strings.Replace(sample.Robots, "Disallow: /", "Disallow: /x", 1) + "\nUser-agent: Googlebot\nDisallow: /*1\n"
	log := combinedLog(7, lines)
	r := compared(t, string(log), sample.Robots, after)
	var files [2]*policy.Robots
	for i, text := range []string{sample.Robots, after} {
		files[i] = policy.Parse([]byte(text))
	}
	var blocked, opened uint64
	for line := range strings.Lines(string(log)) {
		m := combinedLine.FindStringSubmatch(line)
		words := strings.Split(m[3], " ")
		if path, _, _ := strings.Cut(words[1], "?"); len(words) != 3 || path == "/robots.txt" {
			continue
		}
		var allowed [2]bool
		for i, robots := range files {
			client := uaident.Default().IdentifyWith(m[5], uaident.Default().Overlay(robots.Names()))
			group := robots.Select(false, client.AppendChain(nil)...)
			if group == nil && client.Wildcard() {
				group = robots.Select(true)
			}
			allowed[i] = client.Class == uaident.Browser || group.Judge(words[1]).Allowed
		}
		switch {
		case allowed[0] && !allowed[1]:
			blocked++
		case !allowed[0] && allowed[1]:
			opened++
		}
	}
	if r.Lines != lines || r.Blocked != blocked || r.Opened != opened || blocked < 100 || opened < 100 {
		t.Errorf("blocked %d, want %d; opened %d, want %d", r.Blocked, blocked, r.Opened, opened)
	}
	var inRules, inPaths, ofCrawlers uint64
	for _, rule := range r.Rules {
		inRules += rule.Requests
	}
	for _, c := range r.Crawlers {
		ofCrawlers += c.Blocked + c.Opened
	}
	for _, p := range r.Paths {
		inPaths += p.Requests
	}
	if inRules != blocked+opened || ofCrawlers != inRules || inPaths == 0 {
		t.Errorf("%d requests by rule, %d by crawler, %d by path", inRules, ofCrawlers, inPaths)
	}
}

// TestCompareNoAllocation replays a log a second time.
func TestCompareNoAllocation(t *testing.T) {
	log := combinedLog(1, 2000)
	o := Options{Logs: []string{"-"}, Stdin: bytes.NewReader(log), Versions: oneVersion(sample.Robots), Progress: new(Progress), Workers: 1, before: new(Version)}
	p, logs, err := o.plan()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(p)
	k := &chunk{in: logs[0], data: log}
	w.work(k)
	if w.tally.changes.crawlers == nil {
		t.Error("nothing changes")
	}
	if n := testing.AllocsPerRun(5, func() { w.work(k) }); n > 20 {
		t.Errorf("%v allocations for 2,000 lines", n)
	}
}

// TestCompareBoundedMemory has every line invent a crawler and a path.
func TestCompareBoundedMemory(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 20000 {
		log.WriteString(combined(noon, fmt.Sprintf("GET /private/%d", i), fmt.Sprintf("Invented%dBot/1.0 (+http://x%d.example)", i, i)))
	}
	r := compared(t, log.String(), "", rules)
	if len(r.Crawlers) != 1 || r.Crawlers[0].Token != "_other" || r.Blocked != 20000 || len(r.Paths) != reportedPaths || len(r.Rules) != 1 {
		t.Errorf("%d crawlers, %d blocked, %d paths, %d rules", len(r.Crawlers), r.Blocked, len(r.Paths), len(r.Rules))
	}
}

// TestCompareHostile writes what clients sent without the means to control a
// terminal.
func TestCompareHostile(t *testing.T) {
	t.Parallel()
	r := compared(t, combined(noon, `GET /\x1b]0;x\x07\xe2\x80\xae`, gptbot)+"\x1b[31m\n", "", "User-agent: *\nDisallow: /\x1b\nDisallow: /\n")
	r.Incomplete = "\x1b[31m"
	var out bytes.Buffer
	if err := r.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	for _, c := range out.String() {
		if c < ' ' && c != '\n' || c == '\u202e' {
			t.Errorf("a character %U in\n%s", c, out.String())
		}
	}
	if r.Blocked != 1 || r.Malformed != 1 || !strings.Contains(out.String(), "Malformed lines") {
		t.Errorf("%s", out.String())
	}
}

// BenchmarkCompare tells how many lines a second one worker compares.
func BenchmarkCompare(b *testing.B) {
	const lines = 200000
	log := combinedLog(1, lines)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Compare(context.Background(), Version{}, Options{Logs: []string{"-"}, Stdin: bytes.NewReader(log), Workers: 1, Versions: oneVersion(sample.Robots), Now: time.Unix(2e9, 0)})
		if err != nil || r.Lines != lines || r.Blocked == 0 {
			b.Fatalf("%v, %+v", err, r)
		}
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
