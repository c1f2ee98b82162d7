package logs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// engine is the folder with ClickHouse's engine and the script that runs statements on
// it.
const engine = "testdata/clickhouse"

// clickHouse starts the engine with the function of the example. It returns a function
// that runs a statement.
func clickHouse(t *testing.T, dir, robots string) (run func(statement string) string) {
	t.Helper()
	files := harness.Files(t, map[string]string{
		"config.xml":                 "<clickhouse><user_defined_executable_functions_config>*_function.xml</user_defined_executable_functions_config></clickhouse>",
		"robots_guard_function.xml":  example(t, "robots_guard_function.xml"),
		"scripts/robots-guard-check": script(t, "robots-guard-check", robots),
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

// TestPastLogs evaluates past log rows in ClickHouse, and compares the result with
// audit. PAST_ROWS sets the number of rows, for measurements:
//
//	PAST_ROWS=10000000 go test ./integration/logs -run TestPastLogs -v -timeout 1h
func TestPastLogs(t *testing.T) {
	t.Parallel()
	rows := pastRows(t)
	dir := harness.Files(t, pastHosts)
	run := clickHouse(t, dir, filepath.Join(dir, "robots"))
	log, tsv := filepath.Join(dir, "access.log"), filepath.Join(dir, "access.tsv")
	writePast(t, log, tsv, rows)
	timed := stopwatch(t, rows)
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
	want := audited(t, timed, dir, log)
	table := run(countRequests)
	if got := counted(t, table); !maps.Equal(got, want) {
		t.Errorf("ClickHouse has %v, audit %v", got, want)
	}

	var outside, byFunctions, unknown uint64
	for _, c := range want {
		outside += c.Outside
	}
	for line := range strings.Lines(byFunction) { // host, month, requests, violations, not evaluated
		var requests, of, none uint64
		f := strings.Fields(line)
		if _, err := fmt.Sscan(strings.Join(f[2:], " "), &requests, &of, &none); err != nil {
			t.Fatal(err)
		}
		byFunctions += of
		if none > 0 {
			unknown += none
			if f[0] != "c.example" || none != requests {
				t.Errorf("not evaluated: %s", line)
			}
		}
	}
	if byFunctions != outside || outside == 0 || unknown == 0 {
		t.Errorf("the function finds %d violations, audit %d; %d requests of c.example are not evaluated", byFunctions, outside, unknown)
	}
	if rules := run(statements(example(t, "queries.sql"))[1]); !strings.Contains(rules, "GPTBot\tDisallow: /\t") {
		t.Errorf("the second query of queries.sql returns %s", rules)
	}
}
