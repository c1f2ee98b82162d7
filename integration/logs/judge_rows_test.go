package logs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestJudgeRows evaluates past log rows in a ClickHouse server with the script, and
// compares the result with audit. PAST_ROWS sets the number of rows, for measurements:
//
//	PAST_ROWS=10000000 go test ./integration/logs -run TestJudgeRows -v -timeout 1h
func TestJudgeRows(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	bash := harness.Program(t, "bash", "bash", "REQUIRE_CLICKHOUSE")
	harness.Program(t, "curl", "curl", "REQUIRE_CLICKHOUSE")
	rows := pastRows(t)
	dir := harness.Files(t, pastHosts)
	log, tsv := filepath.Join(dir, "access.log"), filepath.Join(dir, "access.tsv")
	writePast(t, log, tsv, rows)
	harness.Write(t, filepath.Join(dir, "judge-rows"), script(t, "judge-rows", filepath.Join(dir, "robots")))
	judge := func(month string) (stdout, stderr string, err error) {
		var out, errs strings.Builder
		cmd := exec.Command(bash, filepath.Join(dir, "judge-rows"), month)
		cmd.Env = append(os.Environ(), "CLICKHOUSE_URL="+server.url)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		return out.String(), errs.String(), err
	}
	timed := stopwatch(t, rows)

	for _, statement := range append(statements(example(t, "clickhouse.sql")), statements(example(t, "past.sql"))[0]) {
		server.run(t, statement, "")
	}
	for _, statement := range statements(example(t, "judge-rows.sql")) {
		server.run(t, statement, "")
	}
	past, err := os.Open(tsv)
	if err != nil {
		t.Fatal(err)
	}
	defer past.Close()
	timed("load", func() string {
		answer, err := server.ask("INSERT INTO robots_guard.access FORMAT TabSeparated", past)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	})
	t.Log("ClickHouse ", server.run(t, "SELECT version()", ""))
	good := func(month string) string {
		if stdout, stderr, err := judge(month); err != nil || stdout != "" || stderr != "" {
			t.Fatalf("judge-rows %s: %v %s %s", month, err, stdout, stderr)
		}
		return ""
	}
	good("202609") // has no rows
	timed("judge-rows", func() string { return good("202610") })
	if got, want := counted(t, server.run(t, countRequests, "")), audited(t, timed, dir, log); !maps.Equal(got, want) {
		t.Errorf("ClickHouse has %v, audit %v", got, want)
	}
	if rules := server.run(t, statements(example(t, "queries.sql"))[1], ""); !strings.Contains(rules, "GPTBot\tDisallow: /\t") {
		t.Errorf("the second query of queries.sql returns %s", rules)
	}

	// Rows keep their content, whatever bytes clients sent.
	const hostile = "2026-11-01 00:00:00\ta.example\t192.0.2.1\tGET\t/blog/\xc3\xa4\xff\\t\"\\\\\tGPTBot/1.0 \xff\\n\"<>&\t200\n"
	server.run(t, "INSERT INTO robots_guard.access FORMAT TabSeparated", hostile)
	if _, stderr, err := judge("202611"); err != nil {
		t.Errorf("a hostile row: %v %s", err, stderr)
	}
	const november = "SELECT time, host, client_ip, method, uri, user_agent, status FROM robots_guard.requests WHERE toYYYYMM(time) = 202611 AND rule = 'Disallow: /'"
	if got := server.run(t, november, ""); got != hostile {
		t.Errorf("got %q, want %q", got, hostile)
	}

	// Errors are reported.
	if _, stderr, err := judge("October"); err == nil || !strings.Contains(stderr, "no month") {
		t.Errorf("October: %v %s", err, stderr)
	}
	server.run(t, "DROP TABLE robots_guard.judged", "")
	if _, stderr, err := judge("202610"); err == nil || !strings.Contains(stderr, "curl: (") {
		t.Errorf("without the table: %v %s", err, stderr)
	}
}
