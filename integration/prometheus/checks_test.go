package prometheus

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// checkQueries runs every query of the dashboard.
func checkQueries(t *testing.T, p *prometheus, begin time.Time) {
	d := readDashboard(t)
	queries := 0
	run := func(what, expr string, instant bool) {
		t.Helper()
		queries++
		start := begin
		if instant {
			start = time.Time{}
		}
		for _, site := range []string{"a.test", "b.test|c.test", "gone.test"} {
			p.query(filled(expr, site), start) // is valid for any site
		}
		if expr = filled(expr, ".*"); strings.Contains(expr, "$") {
			t.Errorf("%s: an unknown variable in %s", what, expr)
		}
		harness.Eventually(t, what+" has data: "+expr, func() bool { return len(p.query(expr, start)) > 0 })
	}
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			run(panel.Title+" "+q.RefID, q.Expr, q.Instant)
		}
	}
	for _, annotation := range d.Annotations.List {
		if annotation.Expr != "" {
			run(annotation.Name, annotation.Expr, false)
		}
	}
	definition := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		queries++
		m := definition.FindStringSubmatch(v.Definition)
		if m == nil {
			t.Errorf("$%s: cannot read %q", v.Name, v.Definition)
			continue
		}
		if query, _ := v.Query.(map[string]any); query["query"] != v.Definition {
			t.Errorf("$%s has the query %v and the definition %q", v.Name, query["query"], v.Definition)
		}
		var values []string
		p.api("/api/v1/label/"+m[2]+"/values", url.Values{"match[]": {filled(m[1], ".*")}}, &values)
		want := map[string]string{"site": "b.test", "class": "ai_training", "crawler": "GPTBot"}[v.Name]
		if !slices.Contains(values, want) {
			t.Errorf("$%s has the values %q, want a list with %s", v.Name, values, want)
		}
	}
	if queries < 40 {
		t.Errorf("found only %d queries in the dashboard", queries)
	}
}

// checkRules checks that Prometheus evaluates the rules.
func checkRules(t *testing.T, p *prometheus, begin time.Time) {
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	p.api("/api/v1/rules", nil, &data)
	found := 0
	for _, group := range data.Groups {
		for _, rule := range group.Rules {
			found++
			if rule.Health != "ok" {
				t.Errorf("%s: %s: %s", rule.Name, rule.Health, rule.LastError)
			}
		}
	}
	if found < 15 {
		t.Errorf("Prometheus evaluates only %d rules", found)
	}
}

// checkAlerts waits until the alerts of the script have arrived at Alertmanager.
func checkAlerts(t *testing.T, p *prometheus, begin time.Time) {
	// This alert ends after an hour of the rules' accelerated time, so it is queried in
	// the past.
	for _, group := range readYAML[rules](t, rulesDir+"alerts.yml").Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "RobotsGuardSiteClosed" {
				harness.Eventually(t, "c.test is closed", func() bool {
					samples := p.query(faster.Replace(rule.Expr), begin)
					return len(samples) > 0 && samples[0].labels["host"] == "c.test"
				})
			}
		}
	}
	for _, want := range []struct{ name, host string }{
		{"RobotsGuardUnverifiedSearchEngineBlocked", "a.test"},
		{"RobotsGuardUnreachable", "b.test"},
		{"RobotsGuardChangeHeld", "c.test"},
	} {
		var got alert
		harness.Eventually(t, want.name+" of "+want.host+" arrives", func() (ok bool) {
			got, ok = p.received(want.name, want.host)
			return ok
		})
		if summary := got.Annotations["summary"]; !strings.Contains(summary, want.host) {
			t.Errorf("%s has the summary %q", want.name, summary)
		}
	}
	if got, ok := p.received("RobotsGuardUnreachable", "a.test"); ok {
		t.Errorf("an alert for a healthy site: %v", got)
	}
	if got, ok := p.received("RobotsGuardSearchEngineBlocked", "a.test"); ok {
		t.Errorf("an alert for an unverified search engine: %v", got)
	}
	for _, s := range p.query("caddy_robots_guard_search_blocked_timestamp_seconds", time.Time{}) {
		if s.labels["crawler"] != "bingbot" || s.labels["identity"] != "claimed" || s.labels["host"] == "b.test" {
			t.Errorf("%v was blocked by a rule that does not name it", s.labels)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := json.Marshal(p.alerts)
	if err != nil || strings.Contains(string(text), "error expanding") || strings.Contains(string(text), "no value") {
		t.Errorf("%v: %s", err, text)
	}
}

// checkExposition checks the exported metrics with promtool.
func checkExposition(t *testing.T, s *harness.Server, port string) {
	promtool := tool(t, "promtool", "prometheus")
	documented := readDocumentedTypes(t)
	var ours strings.Builder
	for line := range strings.Lines(harness.Get(t, "http://127.0.0.1:"+port+"/metrics", harness.Firefox).Body) {
		if !strings.Contains(line, "caddy_robots_guard_") {
			continue
		}
		ours.WriteString(line)
		if fields := strings.Fields(line); fields[0] == "#" && fields[1] == "TYPE" && documented[fields[2]] != fields[3] {
			t.Errorf("%s is a %s, but docs/metrics.md has %q", fields[2], fields[3], documented[fields[2]])
		}
	}
	runTool(t, ours.String(), promtool, "check", "metrics")
}
