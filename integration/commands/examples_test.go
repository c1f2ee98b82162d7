package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// shell runs a script as CI does and returns its output and exit status.
func shell(t *testing.T, dir, script string, env ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(harness.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Env = append(cmd.Env, env...)
	all, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return string(all), cmd.ProcessState.ExitCode()
}

// needs skips the test if a program is missing that the examples use.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing, which the examples use", program)
		}
	}
}

// TestHelpExamples runs the examples of the commands' help, as in docs/commands.md,
// except those that need a server.
func TestHelpExamples(t *testing.T) {
	needs(t, "sh", "git", "gzip", "zcat")
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := harness.Files(t, map[string]string{
		"robots.txt": checked, "robots.new.txt": checked + "\nUser-agent: CCBot\nDisallow: /\n",
		"cases.txt": "GPTBot / disallow\n", "cases.jsonl": `{"token":"GPTBot","url":"/","expect":"disallow"}` + "\n",
		"user-agents.txt": harness.GPTBot + "\n", "Caddyfile": "example.com {\n\trobots_guard enforce\n\trobots_txt {\n\t\tdisallow GPTBot\n\t}\n}\n", "access.log": logLine("/private/a", harness.Firefox) + strings.Replace(logLine("/private/a", harness.GPTBot), "192.0.2.1", "198.51.100.7", 1),
		"custom.log":              "192.0.2.1 [21/Nov/2026:12:00:00 +0000] \"GET /private/a HTTP/1.1\" 200 \"GPTBot/1.2\"\n",
		"versions/2026-11-01.txt": checked,
	})
	if out, code := shell(t, dir, "git init -q && git add robots.txt && git commit -qm one && git commit -q --allow-empty -m two && mkdir logs && gzip -c access.log >logs/1.gz"); code != 0 {
		t.Fatal(out)
	}
	want := map[string]int{ // exit statuses other than 0
		"caddy robots-guard explain --brief --robots robots.txt --token GPTBot /private/report /":                                 1,
		`caddy robots-guard explain --robots robots.txt --user-agent "Mozilla/5.0 (compatible; GPTBot/1.3)" /private/report`:      1,
		"caddy robots-guard explain --robots robots.txt --token Googlebot /private/report":                                        1,
		"caddy robots-guard explain --robots robots.txt --config Caddyfile --user-agent Bingbot/2.0 https://example.com/private/": 1,
		"caddy robots-guard audit --robots robots.txt /var/log/caddy/access.log":                                                  1,
		`caddy robots-guard audit --robots robots.txt --xarf reports --reporter "Example Ltd <abuse@example.com>" access.log`:     1,
		"caddy robots-guard audit --robots robots.txt --rate --paths access.log":                                                  1,
		"zcat logs/*.gz | caddy robots-guard audit --robots versions/ --json -":                                                   1,
		"caddy robots-guard diff --fail-on any-block --json robots.txt robots.new.txt":                                            1,
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if line == "" || strings.Contains(line, "https://example.com/robots.txt") || regexp.MustCompile(`robots-guard (status|identify .*--online|managed (show|history|confirm|rollback)|registry (status|accept|propose))`).MatchString(line) {
				continue // these need a network or a server
			}
			ran++
			out, code := shell(t, dir, strings.NewReplacer("/var/log/nginx/", "", "/var/log/caddy/", "").Replace(line))
			if code != want[line] || out == "" && !strings.Contains(line, ">") {
				t.Errorf("$ %s\nexit status %d, want %d\n%s", line, code, want[line], out)
			}
			delete(want, line)
		}
	}
	for line := range want {
		t.Errorf("example not found: %s", line)
	}
	if ran < 16 {
		t.Errorf("ran only %d examples", ran)
	}
}

// TestExampleCI runs the commands of the CI snippets on a harmless change and on
// changes that have to fail.
func TestExampleCI(t *testing.T) {
	needs(t, "sh", "git")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "ci", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	robots := read("robots.txt")
	for _, snippet := range []struct{ file, base string }{
		{"github-actions.yml", "BASE"}, {"gitlab-ci.yml", "CI_MERGE_REQUEST_DIFF_BASE_SHA"},
	} {
		script := ciScript(t, read(snippet.file))
		for _, tc := range []struct {
			name, edited string
			code         int
			says         string
		}{
			{"a harmless change", robots + "\nUser-agent: SemrushBot\nDisallow: /\n", 0, "seo: SemrushBot"},
			{"a search engine is blocked", robots + "\nUser-agent: bingbot\nDisallow: /shop/\n", 1, "/shop/"},
			{"an expectation fails", strings.Replace(robots, "User-agent: CCBot\n", "", 1), 1, ""},
			{"a finding", robots + "\nUser-agent: Gogolebot\nDisallow: /\n", 1, "Gogolebot"},
		} {
			t.Run(snippet.file+"/"+tc.name, func(t *testing.T) {
				dir := harness.Files(t, map[string]string{"robots.txt": robots, "robots-cases.txt": read("robots-cases.txt")})
				if out, code := shell(t, dir, "git init -q && git add . && git commit -qm base"); code != 0 {
					t.Fatal(out)
				}
				if err := os.WriteFile(filepath.Join(dir, "robots.txt"), []byte(tc.edited), 0o600); err != nil {
					t.Fatal(err)
				}
				out, code := shell(t, dir, script, snippet.base+"=HEAD")
				if code != tc.code || !strings.Contains(out, tc.says) {
					t.Errorf("exit status %d, want %d\n%s", code, tc.code, out)
				}
			})
		}
	}
}

// ciScript returns the commands of a snippet that use git or the commands under test.
// It omits the installation.
func ciScript(t *testing.T, snippet string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(snippet) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(strings.TrimPrefix(line, "- "), "run: ")
		if strings.HasPrefix(line, "caddy robots-guard ") || strings.HasPrefix(line, "git ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 4 {
		t.Fatalf("%d commands, want lint, test, git and diff: %q", len(lines), lines)
	}
	return strings.Join(lines, "\n")
}
