package metrics

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every label stands in docs/metrics.md, with each value that its metrics have from the start, in the
// table of labels or in the row of the metric.
func TestLabelsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*$").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = m[0]
	}
	for name, d := range documentedMetrics(t) {
		for _, label := range d.labels {
			if rows[label] == "" {
				t.Errorf("docs/metrics.md has no row for the label %s of %s", label, name)
			}
		}
	}
	families, err := New(nothing{}, kinds, results).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				label, value := pair.GetName(), "`"+pair.GetValue()+"`"
				if label != "class" && !strings.Contains(rows[label]+rows[family.GetName()], value) {
					t.Errorf("docs/metrics.md does not have the value %s of the label %s of %s", value, label, family.GetName())
				}
			}
		}
	}
}
