package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// column describes how the example's Vector configuration derives a column from an
// access log line.
type column struct {
	name, kind string   // string or number
	path       []string // path of the field in the line
	required   bool
}

// vectorColumns parses the program of the configuration, a list of columns in a few
// forms.
func vectorColumns(t *testing.T) (columns []column) {
	t.Helper()
	var config struct {
		Transforms map[string]struct{ Source string }
	}
	if err := yaml.Unmarshal([]byte(example(t, "vector.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	program := config.Transforms["judged"].Source
	_, list, ok := strings.Cut(program, ". = {\n")
	if !ok {
		t.Fatalf("cannot read the program: %s", program)
	}
	list, _, _ = strings.Cut(list, "}")
	form := regexp.MustCompile(`^"(\w+)": (string|int|to_int)(!?)\((entry|guard)\.([^()]+)\)( \?\? (""|0))?,$`)
	for line := range strings.Lines(list) {
		m := form.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || (m[3] == "!") == (m[6] != "") {
			t.Fatalf("cannot read the column %s", line)
		}
		c := column{name: m[1], kind: "number", required: m[3] == "!"}
		if m[2] == "string" {
			c.kind = "string"
		}
		path := strings.TrimSuffix(strings.ReplaceAll(m[5], `"`, ""), "[0]")
		if c.path = strings.Split(path, "."); m[4] == "guard" {
			c.path = append([]string{"robots_guard"}, c.path...)
		}
		columns = append(columns, c)
	}
	return columns
}

// row converts a line to a row as the program does. It returns nil for requests without
// a verdict.
func row(t *testing.T, columns []column, line map[string]any) map[string]any {
	t.Helper()
	if _, ok := line["robots_guard"].(map[string]any); !ok {
		return nil
	}
	made := make(map[string]any)
	for _, c := range columns {
		var value any = line
		for _, name := range c.path {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		switch value := value.(type) {
		case string:
			made[c.name] = value
		case float64:
			made[c.name] = math.Trunc(value)
		}
		if made[c.name] == nil && c.required {
			t.Errorf("%s: no %v in %v", c.name, c.path, line)
		} else if made[c.name] == nil {
			made[c.name] = map[string]any{"string": "", "number": 0.0}[c.kind]
		}
		if _, isString := made[c.name].(string); isString != (c.kind == "string") {
			t.Errorf("%s is %v, want a %s", c.name, made[c.name], c.kind)
		}
	}
	return made
}

// TestLogPipeline converts a real access log with the example's columns and loads it
// into a ClickHouse server.
func TestLogPipeline(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, strings.Replace(harness.RuledSite, "{\n", "{\n\tlog\n", 1), "$MODE", "enforce")
	s.Warm("/")
	for range 3 {
		harness.Get(t, s.URL("/private/x"), harness.Bingbot)
		harness.Get(t, s.URL("/page"), harness.GPTBot)
		harness.Get(t, s.URL("/page"), harness.Firefox)
	}
	harness.Get(t, s.URL("/robots.txt"), harness.GPTBot)
	harness.Eventually(t, "the last request is logged", func() bool { return strings.Contains(s.Logs.String(), `"uri":"/robots.txt"`) })

	columns := vectorColumns(t)
	var rows bytes.Buffer
	counts := make(map[string]int)
	used := make(map[string]bool)
	for _, line := range s.Lines("handled request") {
		made := row(t, columns, line)
		if made == nil {
			continue
		}
		counts[fmt.Sprint(made["crawler"], " ", made["verdict"])]++
		for name, value := range made {
			used[name] = used[name] || value != "" && value != 0.0
		}
		if err := json.NewEncoder(&rows).Encode(made); err != nil {
			t.Fatal(err)
		}
	}
	if counts["bingbot disallowed"] != 3 || counts["GPTBot disallowed"] != 3 || counts["GPTBot allowed"] != 1 || counts["Firefox allowed"] != 0 {
		t.Errorf("got %v", counts)
	}
	table := example(t, "clickhouse.sql")
	var inTable, inVector []string
	for _, m := range regexp.MustCompile(`(?m)^    (\w+) (?:String|DateTime|UInt\d+),?$`).FindAllStringSubmatch(table, -1) {
		inTable = append(inTable, m[1])
	}
	for _, c := range columns {
		inVector = append(inVector, c.name)
		if !used[c.name] && c.name != "proof" { // the test verifies no crawlers
			t.Errorf("the column %s is always empty", c.name)
		}
	}
	if !slices.Equal(inTable, inVector) {
		t.Errorf("the table has the columns %v, Vector has %v", inTable, inVector)
	}
	t.Run("ClickHouse", func(t *testing.T) { loadClickHouse(t, table, rows.String()) })
}

// loadClickHouse runs the statements of the example on a new server.
func loadClickHouse(t *testing.T, table, rows string) {
	server := startServer(t)
	for _, statement := range statements(table) {
		server.run(t, statement, "")
	}
	server.run(t, "INSERT INTO robots_guard.requests FORMAT JSONEachRow", rows)
	var answers []string
	for _, query := range statements(example(t, "queries.sql")) {
		answers = append(answers, server.run(t, query, ""))
	}
	for i, want := range []string{"GPTBot\tai_training\tclaimed\t4\t3\t75\n", "bingbot\tDisallow: /private/\t", "bingbot\tclaimed\t/private/x\tDisallow: /private/\t3\n"} {
		if i >= len(answers) || !strings.Contains(answers[i], want) {
			t.Errorf("query %d: got %q, want a result with %q", i+1, answers, want)
		}
	}
}
