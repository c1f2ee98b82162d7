package prometheus

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const rulesDir = "../../examples/dashboards/prometheus/"

// tool returns the path of a program of Prometheus. If the program is missing, tool
// skips the test, or fails it if REQUIRE_PROMETHEUS is set as in CI.
func tool(t *testing.T, name, debian string) string {
	t.Helper()
	return harness.Program(t, name, debian, "REQUIRE_PROMETHEUS")
}

func runTool(t *testing.T, stdin, path string, args ...string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdin = rulesDir, strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, harness.Tail(string(out), 4000))
	}
}

// TestRules runs the unit tests of the rules.
func TestRules(t *testing.T) {
	t.Parallel()
	promtool := tool(t, "promtool", "prometheus")
	runTool(t, "", promtool, "check", "config", "prometheus.yml")
	runTool(t, "", promtool, "test", "rules", "alerts_test.yml")
	if harness.Long() { // whole days take half a minute of CPU time
		runTool(t, "", promtool, "test", "rules", "alerts_days_test.yml", "alerts_nights_test.yml")
	}
}

// TestAlertmanagerExample checks the routing example.
func TestAlertmanagerExample(t *testing.T) {
	t.Parallel()
	runTool(t, "", tool(t, "amtool", "prometheus-alertmanager"), "check-config", "alertmanager.yml")
}

// TestEveryAlertHasUnitTests checks that each alert has a unit test in which it fires
// and one in which it does not. It does not need Prometheus.
func TestEveryAlertHasUnitTests(t *testing.T) {
	t.Parallel()
	type fires struct{ yes, no int }
	tested := make(map[string]*fires)
	for _, group := range readYAML[rules](t, rulesDir+"alerts.yml").Groups {
		for _, rule := range group.Rules {
			tested[rule.Alert] = new(fires)
		}
	}
	for _, name := range []string{"alerts_test.yml", "alerts_days_test.yml"} {
		for _, test := range readYAML[unitTests](t, rulesDir+name).Tests {
			for _, check := range test.Checks {
				switch f := tested[check.Name]; {
				case f == nil:
					t.Errorf("%s: unknown alert %s", name, check.Name)
				case len(check.Alerts) > 0:
					f.yes++
				default:
					f.no++
				}
			}
		}
	}
	for name, f := range tested {
		if f.yes == 0 || f.no == 0 {
			t.Errorf("%s: fires in %d tests, does not fire in %d", name, f.yes, f.no)
		}
	}
}

// rules is a file of alerting rules.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr string
			Labels      map[string]string
		}
	}
}

// unitTests is a file of unit tests of rules.
type unitTests struct {
	Tests []struct {
		Name   string
		Checks []struct {
			Name   string `yaml:"alertname"`
			Alerts []any  `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	}
}

func readYAML[T any](t *testing.T, path string) (value T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}

// TestScrapedIsTheSite compares the target of prometheus.yml with the documented site
// for metrics. For another host name at the same address Caddy returns an empty
// response with status 200.
func TestScrapedIsTheSite(t *testing.T) {
	t.Parallel()
	target := regexp.MustCompile(`targets: \[([^\]]+:9180)\]`).FindStringSubmatch(readText(t, rulesDir+"prometheus.yml"))
	if target == nil {
		t.Fatal("prometheus.yml lacks the target")
	}
	for _, document := range []string{"../../docs/metrics.md", "../../examples/dashboards/README.md"} {
		if !strings.Contains(readText(t, document), "http://"+target[1]+" {\n") {
			t.Errorf("%s has no site for %s, the target of prometheus.yml", document, target[1])
		}
	}
}

// TestJudgedAreAllThatWereJudged checks that the queries divide by the same verdicts as
// the dashboard's compliance.
func TestJudgedAreAllThatWereJudged(t *testing.T) {
	t.Parallel()
	for _, file := range []string{dashboardFile, rulesDir + "alerts.yml"} {
		for _, verdicts := range regexp.MustCompile(`verdict=~\\?"(allowed\|[a-z_|]+)`).FindAllStringSubmatch(readText(t, file), -1) {
			if verdicts[1] != "allowed|disallowed|stale" {
				t.Errorf("%s divides by the verdicts %s", file, verdicts[1])
			}
		}
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
