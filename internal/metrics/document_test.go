package metrics

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

// seriesBudget is what 20 hosts may cost.
const seriesBudget = 5500

// documentedMetric is a row of docs/metrics.md.
type documentedMetric struct {
	kind   string
	labels []string
	series int // at most, for 20 hosts
}

func documentedMetrics(t *testing.T) map[string]documentedMetric {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(caddy_robots_guard_\\w+)` \\| (\\w+) \\|([^|]*)\\| [^|]+ \\| (\\d+) \\|$")
	word := regexp.MustCompile(`\w+`)
	found := make(map[string]documentedMetric)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		series, _ := strconv.Atoi(m[4])
		found[m[1]] = documentedMetric{m[2], word.FindAllString(m[3], -1), series}
	}
	return found
}

// TestMetricsAreDocumented compares the names and labels with docs/metrics.md.
func TestMetricsAreDocumented(t *testing.T) {
	documented := documentedMetrics(t)
	described := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	exported := make(map[string]bool)
	ch := make(chan *prometheus.Desc, 100)
	New(nothing{}, kinds, results).registry.Describe(ch)
	close(ch)
	for desc := range ch {
		m := described.FindStringSubmatch(desc.String())
		if m == nil {
			t.Fatalf("cannot read %s", desc)
		}
		name, labels := m[1], strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' })
		exported[name] = true
		if want, ok := documented[name]; !ok {
			t.Errorf("docs/metrics.md does not have %s", name)
		} else if !slices.Equal(labels, want.labels) {
			t.Errorf("%s has the labels %q, docs/metrics.md says %q", name, labels, want.labels)
		}
	}
	total := 0
	for name, d := range documented {
		total += d.series
		if !exported[name] {
			t.Errorf("docs/metrics.md has %s, which is not exported", name)
		}
	}
	if total > seriesBudget {
		t.Errorf("docs/metrics.md allows %d series, the budget is %d", total, seriesBudget)
	}
}

// checkFamilies compares what was gathered with docs/metrics.md and with the
// conventions for names, and returns the number of series.
func checkFamilies(t *testing.T, families []*dto.MetricFamily) (total int) {
	t.Helper()
	documented := documentedMetrics(t)
	var few []*dto.MetricFamily // the linter compares each series with each
	for _, family := range families {
		few = append(few, &dto.MetricFamily{Name: family.Name, Help: family.Help, Type: family.Type, Metric: family.Metric[:1]})
	}
	problems, err := promlint.NewWithMetricFamilies(few).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, family := range families {
		series := 0
		for _, metric := range family.GetMetric() {
			series++
			if h := metric.GetHistogram(); h != nil {
				series += len(h.GetBucket()) + 2 // le="+Inf", _sum and _count; one was counted
			}
		}
		total += series
		want := documented[family.GetName()]
		if kind := strings.ToLower(family.GetType().String()); kind != want.kind {
			t.Errorf("%s is a %s, docs/metrics.md says %s", family.GetName(), kind, want.kind)
		}
		if series > want.series {
			t.Errorf("%s has %d series, docs/metrics.md says at most %d", family.GetName(), series, want.series)
		}
	}
	return total
}
