package managed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestShrunkListIsConfirmed checks that a rule list that has lost more than half of its
// rules waits for confirmation, even after a reload. Later lists are compared with the
// confirmed one.
func TestShrunkListIsConfirmed(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "rules.json")
	write := func(ids ...string) {
		var rules []string
		for _, id := range ids {
			rules = append(rules, `{"id": "`+id+`", "for": ["GPTBot"], "disallow": ["/`+id+`"]}`)
		}
		if err := os.WriteFile(list, []byte(`{"rules": [`+strings.Join(rules, ", ")+"]}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "b", "c")
	s := newSite(t, "rules "+list)
	serves := func(step string, ids ...string) {
		t.Helper()
		harness.Eventually(t, step, func() bool {
			text := s.read()
			for _, id := range ids {
				if !strings.Contains(text, "Disallow: /"+id+"\n") {
					return false
				}
			}
			return strings.Count(text, "Disallow: ") == len(ids)
		})
	}
	serves("at the start", "a", "b", "c")
	write("a")
	waits := func() bool {
		out, _ := s.managed("changes")
		return strings.Contains(out, "waits for confirmation") && strings.Contains(out, "the list has lost more than half of its 3 rules")
	}
	harness.Eventually(t, "it waits", waits)
	if err := s.load("rules " + list + "\nmax_age 2h"); err != nil {
		t.Fatal(err)
	}
	if serves("after a reload", "a", "b", "c"); !waits() {
		t.Error("after a reload the list no longer waits")
	}
	if out, code := s.managed("confirm", "--why", "the sale is over"); code != 0 {
		t.Errorf("confirm exits with %d: %s", code, out)
	}
	serves("once it is confirmed", "a")
	write("a", "d")
	serves("and then more of it", "a", "d")
}

// TestListMakesTooMuch checks that a list is rejected if the robots.txt would exceed
// the size limit of crawlers. The previous robots.txt stays.
func TestListMakesTooMuch(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "rules.json")
	write := func(id string, paths int) {
		all := make([]string, paths)
		for i := range all {
			all[i] = fmt.Sprintf("\"/%s/%d/%s\"", id, i, strings.Repeat("x", 100))
		}
		if err := os.WriteFile(list, []byte(`{"rules": [{"id": "`+id+`", "for": ["GPTBot"], "disallow": [`+strings.Join(all, ", ")+"]}]}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("small", 1)
	s := newSite(t, "confirm off\nrules "+list)
	has := func(path string) func() bool {
		return func() bool { return strings.Contains(s.read(), "Disallow: "+path) }
	}
	harness.Eventually(t, "the rule is served", has("/small/0/"))
	write("large", 5000)
	refused := func() bool {
		return harness.ReadMetrics(t, "http://127.0.0.1:"+s.admin+"/metrics").Sum("caddy_robots_guard_compose_errors_total", `stage="rules"`) > 0
	}
	harness.Eventually(t, "it is refused", refused)
	if text := s.read(); !strings.Contains(text, "Disallow: /small/0/") || strings.Contains(text, "/large/") {
		t.Errorf("the robots.txt has %d bytes: %.200q", len(text), text)
	}
	write("small2", 2)
	harness.Eventually(t, "the next one counts", has("/small2/1/"))
}
