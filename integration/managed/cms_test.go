package managed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const semrushBot = "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"

// TestCMS runs examples/managed. A rule that is added to the database is served and
// enforced, including a rule with a time. The rules stay while the database is missing,
// and when it is empty.
func TestCMS(t *testing.T) {
	t.Parallel()
	python := harness.Program(t, "python3", "python3", "REQUIRE_PYTHON")
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	example := filepath.Join(root, "examples", "managed")
	database, address := filepath.Join(t.TempDir(), "rules.db"), "127.0.0.1:"+harness.FreePort(t)
	harness.Attend(t, exec.Command(python, filepath.Join(example, "cms.py"), database, address), address)
	config, err := os.ReadFile(filepath.Join(example, "Caddyfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(config), "robots_txt {")
	block, _, _ = strings.Cut(block, "\n\t}\n")
	block = "robots_txt {" + strings.ReplaceAll(block, "127.0.0.1:8090", address) + "\n}\n"
	s := harness.ServeReloadable(t, harness.NewOrigin(t, "User-agent: *\nDisallow: /private\n", nil))
	loads := 0
	reload := func() {
		t.Helper()
		loads++
		if status, body := s.Load(strings.Replace(s.Named("cms", fmt.Sprintf("%sheader X-Load %d\n", block, loads)), "robots_guard enforce", "robots_guard enforce {\n grace off\n }", 1)); status != 200 {
			t.Fatalf("the reload got %d %s", status, body)
		}
	}
	execute := func(sql string) {
		t.Helper()
		if out, err := exec.Command(python, "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])", database, sql).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	text := func() string {
		return harness.Get(t, s.URL("/robots.txt"), semrushBot, harness.Host("a.test")).Body
	}
	status := func(path string) int {
		return harness.Get(t, s.URL(path), semrushBot, harness.Host("a.test")).Status
	}
	reload()
	if before := text(); strings.Contains(before, "/search") || status("/search") != 200 {
		t.Fatalf("without a rule: %q", before)
	}

	now := time.Now()
	execute(fmt.Sprintf(`INSERT INTO rules (id, crawlers, says, paths, begins, ends, hosts) VALUES
		('sale', 'SemrushBot', 'disallow', '/search /compare', '%s', '%s', 'a.test blog.example.com'),
		('later', 'SemrushBot', 'disallow', '/later', '%[2]s', NULL, NULL),
		('elsewhere', 'SemrushBot', 'disallow', '/elsewhere', NULL, NULL, 'blog.example.com')`,
		now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339)))
	reload()
	harness.Eventually(t, "the rule is served", func() bool {
		return strings.Contains(text(), "# rule sale\nUser-agent: SemrushBot\n") && strings.Contains(text(), "Disallow: /search\nDisallow: /compare\n")
	})
	if got := text(); strings.Contains(got, "/later") || strings.Contains(got, "/elsewhere") {
		t.Errorf("rules for another time or host are served: %q", got)
	}
	harness.Eventually(t, "the crawler is held to it", func() bool { return status("/search") == 403 && status("/later") == 200 })

	if err := os.Rename(database, database+".away"); err != nil {
		t.Fatal(err)
	}
	reload()
	if !strings.Contains(text(), "Disallow: /search\n") || status("/search") != 403 {
		t.Errorf("while the database is missing: %q", text())
	}
	if err := os.Rename(database+".away", database); err != nil {
		t.Fatal(err)
	}
	execute("DELETE FROM rules")
	reload()
	if !strings.Contains(text(), "Disallow: /search\n") {
		t.Errorf("when the table is empty: %q", text())
	}
	harness.Eventually(t, "somebody says that the empty table is meant", func() bool {
		_, _, code := harness.Command(t, "", "robots-guard", "managed", "confirm", "--address", "127.0.0.1:"+s.Admin, "--site", "a.test", "--why", "the sale is over")
		return code == 0
	})
	harness.Eventually(t, "it counts", func() bool { return !strings.Contains(text(), "/search") })
}
