package prometheus

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	grafana "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const dashboardFile = "../../examples/dashboards/grafana/dashboards/robots_guard.json"

// dashboard contains the tested parts of a Grafana dashboard.
type dashboard struct {
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []panelQuery
	}
	Templating struct {
		List []struct {
			Name, Type, Definition string
			Query                  any
		}
	}
	Annotations struct {
		List []struct{ Name, Expr string }
	}
}

// panelQuery is a query of a panel.
type panelQuery struct {
	RefID   string
	Expr    string
	Instant bool
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDashboardSchema decodes the dashboard strictly with Grafana's published schema,
// including the schema of its panels and queries.
func TestDashboardSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	// The schema allows data sources to add their own fields to an annotation. The
	// decoder does not accept those of Prometheus.
	for _, annotation := range fields["annotations"].(map[string]any)["list"].([]any) {
		for _, name := range []string{"step", "titleFormat", "textFormat", "useValueForTime"} {
			delete(annotation.(map[string]any), name)
		}
	}
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	plugins.RegisterDefaultPlugins()
	var decoded grafana.Dashboard
	if err := decoded.UnmarshalJSONStrict(text); err != nil {
		t.Error(err)
	}
	if err := decoded.Validate(); err != nil {
		t.Error(err)
	}
}

// TestDashboardLayout checks the properties that a schema does not cover.
func TestDashboardLayout(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	var rows []string
	ids := make(map[int]bool)
	taken := make(map[[2]int]string)
	for _, p := range d.Panels {
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%q overlaps %q or exceeds the grid", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%q has no query", p.Title)
		}
	}
	if want := []string{"Overview", "Crawlers", "Compliance", "robots.txt health", "Internals"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if want := []string{"datasource", "site", "class", "crawler"}; !slices.Equal(variables, want) {
		t.Errorf("the variables are %q, want %q", variables, want)
	}
}

// TestQueriesUseDocumentedMetrics detects misspelt names, which would cause an empty
// panel or an alert that never fires.
func TestQueriesUseDocumentedMetrics(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	queries := make(map[string]string)
	for _, path := range []string{dashboardFile, rulesDir + "alerts.yml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		queries[path] = string(text)
	}
	for path, text := range queries {
		for _, name := range regexp.MustCompile(`\bcaddy_robots_guard_[a-z_]*[a-z]\b`).FindAllString(text, -1) {
			base := strings.TrimSuffix(name, "_bucket")
			if !strings.Contains(string(document), "| `"+base+"` |") {
				t.Errorf("%s: docs/metrics.md lacks %s", path, name)
			}
		}
	}
}

// TestDashboardReadme compares the table of alerts with the rules.
func TestDashboardReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/dashboards/README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `(RobotsGuard\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = m[2]
	}
	alerts := make(map[string]string)
	for _, group := range readYAML[rules](t, rulesDir+"alerts.yml").Groups {
		for _, rule := range group.Rules {
			alerts[rule.Alert] = rule.Labels["severity"]
		}
	}
	if !maps.Equal(documented, alerts) {
		t.Errorf("the README has the alerts %v, the rules have %v", documented, alerts)
	}
	for _, m := range regexp.MustCompile("`((?:prometheus|grafana)/[\\w./]+)`").FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat("../../examples/dashboards/" + m[1]); err != nil {
			t.Error(err)
		}
	}
}

// readDocumentedTypes returns the types of the metrics in docs/metrics.md.
func readDocumentedTypes(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	types := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `(caddy_robots_guard_\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(string(text), -1) {
		types[m[1]] = m[2]
	}
	return types
}
