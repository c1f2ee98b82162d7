package logs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// pastHosts are the robots.txt files of the hosts in past logs. The file of one host
// has changed.
var pastHosts = map[string]string{
	"robots/a.example/robots-2026-10-01.txt": "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /blog/\n",
	"robots/a.example/robots-2026-10-15.txt": "User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n",
	"robots/b.example/robots.txt":            "User-agent: *\nDisallow: /search\n\nUser-agent: zorkly\nDisallow: /z\n",
}

// writePast writes rows of October as a log and as rows for ClickHouse.
func writePast(t *testing.T, logName, rowsName string, rows int) {
	t.Helper()
	logFile, err := os.Create(logName)
	if err != nil {
		t.Fatal(err)
	}
	rowsFile, err := os.Create(rowsName)
	if err != nil {
		t.Fatal(err)
	}
	log, tsv := bufio.NewWriterSize(logFile, 1<<16), bufio.NewWriterSize(rowsFile, 1<<16)
	hosts := []string{"a.example", "b.example", "A.Example", "c.example"}
	agents := []string{harness.Firefox, harness.GPTBot, harness.Bingbot, harness.Firefox, harness.Curl, "Mozilla/5.0 (compatible; zorkly/2.1; +https://zorkly.example/bot)",
		"CCBot/2.0 (https://commoncrawl.org/faq/)", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", harness.Firefox, "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"}
	paths := []string{"/", "/blog/%d", "/private/%d", "/%%70rivate//%d", "/list?page=%d&sort=asc", "/search?q=%d", "/z/%d", "/robots.txt?%d", "/a/b/c/%d.html", "/img/%d.jpg?a=\"<>&é"}
	const days = 31
	for i := range rows {
		at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * (days * 24 * time.Hour / time.Duration(rows)))
		n := uint64(i) * 0x9E3779B97F4A7C15 >> 20 // spreads the values
		host, agent, path := hosts[n%4], agents[n>>2%10], paths[n>>8%10]
		if strings.Contains(path, "%") {
			path = fmt.Sprintf(path, n>>16%5000)
		}
		path = strings.NewReplacer(`"`, "%22", "é", "%C3%A9").Replace(path)
		method := []string{"GET", "GET", "GET", "HEAD", "POST"}[n>>13%5]
		fmt.Fprintf(log, "%s:443 192.0.2.%d - - [%s] \"%s %s HTTP/1.1\" 200 1234 \"-\" \"%s\"\n", host, n%250, at.Format("02/Jan/2006:15:04:05 -0700"), method, path, agent)
		fmt.Fprintf(tsv, "%d\t%s\t192.0.2.%d\t%s\t%s\t%s\t200\n", at.Unix(), host, n%250, method, path, agent)
	}
	for _, end := range []func() error{log.Flush, tsv.Flush, logFile.Close, rowsFile.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// pastRows returns the number of rows in a test of past logs.
func pastRows(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PAST_ROWS")
	if text == "" {
		return 5000
	}
	rows, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// stopwatch returns a function that measures and logs rows per second.
func stopwatch(t *testing.T, rows int) func(what string, do func() string) string {
	return func(what string, do func() string) string {
		start := time.Now()
		answer := do()
		t.Logf("%s: %d rows in %.1f s, %.0f a second", what, rows, time.Since(start).Seconds(), float64(rows)/time.Since(start).Seconds())
		return answer
	}
}

// counts are counts of a crawler's requests.
type counts struct{ Requests, Outside, Exempt uint64 }

// plus adds the counts of a crawler to a map by token and class.
func plus(to map[string]counts, token, class string, c counts) {
	if token == "zorkly" {
		token = "_other" // as in audit if the host's robots.txt does not name the crawler
	}
	sum := to[token+" "+class]
	to[token+" "+class] = counts{sum.Requests + c.Requests, sum.Outside + c.Outside, sum.Exempt + c.Exempt}
}

// audited returns the counts of audit for the rows as a log.
func audited(t *testing.T, timed func(string, func() string) string, dir, log string) map[string]counts {
	t.Helper()
	stdout := timed("audit", func() string {
		stdout, stderr, code := harness.Command(t, "", "robots-guard", "audit", "--json", "--robots", filepath.Join(dir, "robots"), log)
		if code != 1 { // there are violations
			t.Fatal(stderr)
		}
		return stdout
	})
	var report struct {
		Crawlers []struct {
			Token, Class                        string
			Requests, Disallowed, Stale, Exempt uint64
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]counts)
	for _, c := range report.Crawlers {
		plus(all, c.Token, c.Class, counts{c.Requests, c.Disallowed + c.Stale, c.Exempt}) // audit of a single version has no stale verdicts
	}
	if len(all) < 7 {
		t.Errorf("audit has only %v", all)
	}
	return all
}

// countRequests queries the counts that [counted] parses.
const countRequests = "SELECT crawler, class, count(), countIf(verdict = 'disallowed'), countIf(verdict = 'exempt') FROM robots_guard.requests GROUP BY crawler, class"

// counted parses the result of countRequests.
func counted(t *testing.T, table string) map[string]counts {
	t.Helper()
	all := make(map[string]counts)
	for line := range strings.Lines(table) {
		var c counts
		f := strings.Split(strings.TrimSpace(line), "\t")
		if _, err := fmt.Sscan(strings.Join(f[2:], " "), &c.Requests, &c.Outside, &c.Exempt); err != nil {
			t.Fatal(err)
		}
		plus(all, f[0], f[1], c)
	}
	return all
}
