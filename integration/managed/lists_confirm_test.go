package managed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// A list that has lost more than half of its rules waits over a reload, until somebody
// confirms it; what follows is compared with that.
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
		return strings.Contains(out, "waits for confirmation") && strings.Contains(out, "it has lost more than half of its 3 rules")
	}
	harness.Eventually(t, "it waits", waits)
	if err := s.load("rules " + list + "\nmax_age 2h"); err != nil {
		t.Fatal(err)
	}
	if serves("after a reload", "a", "b", "c"); !waits() {
		t.Error("after a reload it waits no more")
	}
	if out, code := s.managed("confirm", "--why", "the sale is over"); code != 0 {
		t.Errorf("confirm exits with %d: %s", code, out)
	}
	serves("once it is confirmed", "a")
	write("a", "d")
	serves("and then more of it", "a", "d")
}
