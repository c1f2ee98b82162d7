package logs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// engine is where ClickHouse's engine, and what runs statements on it, stand.
const engine = "testdata/clickhouse"

// clickHouse starts the engine with the example's function, and returns what runs
// a statement on it.
func clickHouse(t *testing.T, dir, robots string) (run func(statement string) string) {
	t.Helper()
	script := example(t, "robots-guard-check")
	for text, real := range map[string]string{"exec caddy": "exec " + harness.Binary(t), "/etc/robots-guard/robots": robots} {
		if !strings.Contains(script, text) {
			t.Fatalf("the script has no %s", text)
		}
		script = strings.Replace(script, text, real, 1)
	}
	files := harness.Files(t, map[string]string{
		"config.xml":                 "<clickhouse><user_defined_executable_functions_config>*_function.xml</user_defined_executable_functions_config></clickhouse>",
		"robots_guard_function.xml":  example(t, "robots_guard_function.xml"),
		"scripts/robots-guard-check": script,
	})
	scripts := filepath.Join(files, "scripts")
	if err := os.Chmod(filepath.Join(scripts, "robots-guard-check"), 0o700); err != nil {
		t.Fatal(err)
	}
	in, out := harness.Node(t, engine, "chdb", "REQUIRE_CHDB", "query.js", filepath.Join(dir, "data"), filepath.Join(files, "config.xml"), scripts)
	to, answers := json.NewEncoder(in), json.NewDecoder(out)
	return func(statement string) string {
		t.Helper()
		var result struct{ Answer, Error string }
		if err := to.Encode(statement); err != nil {
			t.Fatal(err)
		}
		if err := answers.Decode(&result); err != nil || result.Error != "" {
			t.Fatalf("%s: %v %s", statement, err, result.Error)
		}
		return result.Answer
	}
}

// example returns a file of the example.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(logsDir + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// statements are those of an SQL file.
func statements(text string) (all []string) {
	text = regexp.MustCompile(`(?m)^--.*$`).ReplaceAllString(text, "")
	for statement := range strings.SplitSeq(text, ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			all = append(all, statement)
		}
	}
	return all
}

// pastHosts are the robots.txt of the hosts of past logs: one has changed.
var pastHosts = map[string]string{
	"robots/a.example/robots-2026-10-01.txt": "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /blog/\n",
	"robots/a.example/robots-2026-10-15.txt": "User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n",
	"robots/b.example/robots.txt":            "User-agent: *\nDisallow: /search\n\nUser-agent: zorkly\nDisallow: /z\n",
}

// writePast writes rows of October as a log and for ClickHouse.
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
		n := uint64(i) * 0x9E3779B97F4A7C15 >> 20 // spreads them
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

// TestPastLogs judges the rows of past logs in ClickHouse, and compares with what
// audit says of the same lines. PAST_ROWS makes more of them, to measure:
//
//	PAST_ROWS=10000000 go test ./integration/logs -run TestPastLogs -v -timeout 1h
func TestPastLogs(t *testing.T) {
	t.Parallel()
	rows := 5000
	if text := os.Getenv("PAST_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := harness.Files(t, pastHosts)
	run := clickHouse(t, dir, filepath.Join(dir, "robots"))
	log, tsv := filepath.Join(dir, "access.log"), filepath.Join(dir, "access.tsv")
	writePast(t, log, tsv, rows)
	timed := func(what string, do func() string) string {
		start := time.Now()
		answer := do()
		t.Logf("%s: %d rows in %.1f s, %.0f a second", what, rows, time.Since(start).Seconds(), float64(rows)/time.Since(start).Seconds())
		return answer
	}

	for _, statement := range statements(example(t, "clickhouse.sql")) {
		run(statement)
	}
	past := statements(example(t, "past.sql"))
	if len(past) != 3 {
		t.Fatalf("past.sql has %d statements", len(past))
	}
	run(past[0])
	timed("load", func() string {
		return run(fmt.Sprintf("INSERT INTO robots_guard.access SELECT * FROM file('%s', TSV, 'time UInt32, host String, client_ip String, method String, uri String, user_agent String, status UInt16')", tsv))
	})
	t.Log("ClickHouse ", run("SELECT version()"))
	byFunction := timed("function", func() string { return run(past[1]) })
	timed("table function", func() string { return run(past[2]) })
	stdout := timed("audit", func() string {
		stdout, stderr, code := harness.Command(t, "", "robots-guard", "audit", "--json", "--robots", filepath.Join(dir, "robots"), log)
		if code != 0 {
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
	type counts struct{ Requests, Outside, Exempt uint64 }
	want, got := make(map[string]counts), make(map[string]counts)
	add := func(to map[string]counts, token, class string, c counts) {
		if token == "zorkly" {
			token = "_other" // as audit has it where the host's robots.txt does not name it
		}
		sum := to[token+" "+class]
		to[token+" "+class] = counts{sum.Requests + c.Requests, sum.Outside + c.Outside, sum.Exempt + c.Exempt}
	}
	for _, c := range report.Crawlers {
		add(want, c.Token, c.Class, counts{c.Requests, c.Disallowed + c.Stale, c.Exempt}) // a row alone is never stale
	}
	table := run("SELECT crawler, class, count(), countIf(verdict = 'disallowed'), countIf(verdict = 'exempt') FROM robots_guard.requests GROUP BY crawler, class")
	for line := range strings.Lines(table) {
		var c counts
		f := strings.Split(strings.TrimSpace(line), "\t")
		if _, err := fmt.Sscan(strings.Join(f[2:], " "), &c.Requests, &c.Outside, &c.Exempt); err != nil {
			t.Fatal(err)
		}
		add(got, f[0], f[1], c)
	}
	if len(want) < 7 || !maps.Equal(got, want) {
		t.Errorf("ClickHouse has %v, audit %v", got, want)
	}

	var outside, byFunctions, unknown uint64
	for _, c := range want {
		outside += c.Outside
	}
	for line := range strings.Lines(byFunction) { // host, month, requests, outside, not judged
		var requests, of, none uint64
		f := strings.Fields(line)
		if _, err := fmt.Sscan(strings.Join(f[2:], " "), &requests, &of, &none); err != nil {
			t.Fatal(err)
		}
		byFunctions += of
		if none > 0 {
			unknown += none
			if f[0] != "c.example" || none != requests {
				t.Errorf("not judged: %s", line)
			}
		}
	}
	if byFunctions != outside || outside == 0 || unknown == 0 {
		t.Errorf("the function finds %d outside, audit %d; %d of c.example are not judged", byFunctions, outside, unknown)
	}
	if rules := run(statements(example(t, "queries.sql"))[1]); !strings.Contains(rules, "GPTBot\tDisallow: /\t") {
		t.Errorf("the second of queries.sql answers %s", rules)
	}
}
