package integration

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// linted is a robots.txt with an error and a warning.
const linted = "User-agent: *\nDisallow: private/\n\nUser-agent: Gogolebot\nDisallow: /x\n"

// pieces is a run of a command and pieces of what it prints.
type pieces struct {
	name   string
	args   []string
	stdin  string
	code   int
	stdout []string
	stderr []string
}

func runPieces(t *testing.T, all []pieces) {
	t.Helper()
	for _, tc := range all {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := command(t, tc.stdin, append([]string{"robots-guard"}, tc.args...)...)
			if code != tc.code {
				t.Errorf("exit status %d, want %d; %s", code, tc.code, stderr)
			}
			for _, piece := range tc.stdout {
				if !strings.Contains(stdout, piece) {
					t.Errorf("no %q in\n%s", piece, stdout)
				}
			}
			for _, piece := range tc.stderr {
				if !strings.Contains(stderr, piece) {
					t.Errorf("no %q on standard error:\n%s", piece, stderr)
				}
			}
			if len(tc.stderr) == 0 && stderr != "" && !strings.HasPrefix(stderr, `{"level":"info"`) { // Caddy tells which config it reads
				t.Errorf("unexpected on standard error: %s", stderr)
			}
		})
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"robots.txt": linted, "good.txt": checked, "empty.txt": "",
		"binary": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00\x01\x00\x00\x00",
	})
	bad, good := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "good.txt")
	o := newOrigin(t, "User-agent: *\nDisallow: /x\n\nSitemap: https://elsewhere.test/s.xml\n", nil)
	none := newOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<!doctype html><p>Not found"))
		return true
	})
	page := newOrigin(t, "<!doctype html><p>Welcome", nil)
	broken := newOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	runPieces(t, []pieces{
		{name: "text", args: []string{"lint", bad}, code: 1, stdout: []string{
			bad + `:2:11: error: "private/" starts with neither / nor *`, "[rule-without-slash]\n",
			bad + `:4:13: warning: no known crawler is called "Gogolebot"; if Googlebot is meant, write that [misspelt-crawler]`,
			bad + ": 1 error, 1 warning\n"}},
		{name: "nothing to mend", args: []string{"lint", good}, code: 0, stdout: []string{good + ": nothing to mend\n"}},
		{name: "standard input", args: []string{"lint", "-"}, stdin: linted, code: 1, stdout: []string{"-:2:11: error: "}},
		{name: "a later severity", args: []string{"lint", "--fail-on", "info", "-"}, stdin: "User-agent: *\nDisallow: /a\nDisallow: /a\n", code: 1, stdout: []string{"[duplicate-rule]"}},
		{name: "not so severe", args: []string{"lint", "-"}, stdin: "User-agent: *\nDisallow: /a\nDisallow: /a\n", code: 0, stdout: []string{"[duplicate-rule]"}},
		{name: "never", args: []string{"lint", "--fail-on", "never", bad}, code: 0, stdout: []string{"error"}},
		{name: "github", args: []string{"lint", "--format", "github", "-"}, stdin: linted, code: 1, stdout: []string{"::error file=-,line=2,col=11,title=rule-without-slash::"}},
		{name: "sarif", args: []string{"lint", "--format", "sarif", bad}, code: 1, stdout: []string{`"version": "2.1.0"`, `"ruleId": "misspelt-crawler"`}},
		{name: "json", args: []string{"lint", "--format", "json", bad}, code: 1, stdout: []string{`"code": "rule-without-slash"`, `"errors": 1`}},
		{name: "readings", args: []string{"lint", "--readings", "-"}, stdin: checked, code: 0, stdout: []string{"how crawlers read it", "GPTBot (line 5)"}},
		{name: "a URL", args: []string{"lint", o.URL}, code: 0, stdout: []string{o.URL + "/robots.txt:4:10: info: the sitemap is on \"elsewhere.test\"", "[sitemap-other-host]"}},
		{name: "a site", args: []string{"lint", "--site", "https://a.test", "-"}, stdin: "User-agent: *\nDisallow: /x\nSitemap: https://b.test/x\n", code: 0, stdout: []string{"[sitemap-other-host]"}},
		{name: "empty", args: []string{"lint", filepath.Join(dir, "empty.txt")}, code: 0, stdout: []string{"[empty-file]"}},
		{name: "a page in its place", args: []string{"lint", page.URL}, code: 1, stdout: []string{"error: this is a web page", "[html]"}},
		{name: "a page that says 404", args: []string{"lint", none.URL + "/robots.txt"}, code: 2, stderr: []string{none.URL + "/robots.txt: the server answers 404, so there is no robots.txt"}},
		{name: "a server that fails", args: []string{"lint", broken.URL}, code: 2, stderr: []string{"the server answers 502; try again later"}},
		{name: "nobody listens", args: []string{"lint", "http://127.0.0.1:1/robots.txt"}, code: 2, stderr: []string{"cannot read http://127.0.0.1:1/robots.txt"}},
		{name: "a directory", args: []string{"lint", dir}, code: 2, stderr: []string{dir + " is a directory; give the file in it, such as " + bad}},
		{name: "no such file", args: []string{"lint", "/no/such/file"}, code: 2, stderr: []string{"there is no file /no/such/file"}},
		{name: "a binary file", args: []string{"lint", filepath.Join(dir, "binary")}, code: 2, stderr: []string{"binary is a binary file and no text"}},
		{name: "one of two is missing", args: []string{"lint", "/no/such/file", good}, code: 2, stdout: []string{"nothing to mend"}, stderr: []string{"/no/such/file"}},
		{name: "an unknown format", args: []string{"lint", "--format", "xml", good}, code: 2, stderr: []string{`unknown format \"xml\"; --format takes text, json, github, sarif`}},
		{name: "an unknown severity", args: []string{"lint", "--fail-on", "bad", good}, code: 2, stderr: []string{"--fail-on takes error, warning, info or never"}},
		{name: "an unknown command", args: []string{"lnit"}, code: 2, stderr: []string{"unknown command", ", lint, "}},
	})
	stdout, _, code := command(t, "", "__complete", "robots-guard", "lint", "--format", "")
	if code != 0 || !strings.Contains(stdout, "sarif") {
		t.Errorf("the shell completes --format to %q, exit status %d", stdout, code)
	}
}

func TestExplainCommand(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"robots.txt": checked,
		"Caddyfile": "a.test {\n\trobots_guard enforce {\n\t\tonly_log Bingbot\n\t\tsource file " +
			"ROBOTS\n\t}\n\trespond ok\n}\nb.test {\n\trobots_guard {\n\t\tmerge_slashes off\n\t}\n}\nd.test {\n\thandle /blog/* {\n\t\trobots_guard\n\t}\n}\nc.test {\n\trespond ok\n}\n",
		"none": "c.test {\n\trespond ok\n}\n", "broken": "c.test {\n\trobots_guard sometimes\n}\n",
	})
	robots, config := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "Caddyfile")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, bytes.ReplaceAll(text, []byte("ROBOTS"), []byte(filepath.ToSlash(robots))), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOrigin(t, checked, nil)
	none := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		http.NotFound(w, r)
		return true
	})
	with := func(args ...string) []string {
		return append([]string{"explain", "--config", config, "--adapter", "caddyfile"}, args...)
	}
	runPieces(t, []pieces{
		{name: "text", args: []string{"explain", "-r", robots, "-u", gptBot, "/x"}, code: 1, stdout: []string{
			"so it says to be GPTBot, class ai_training", "so the group GPTBot decides, 1 rule in line 5", "disallowed: Disallow: / in line 6"}},
		{name: "json", args: []string{"explain", "-r", robots, "-u", gptBot, "--json", "/x"}, code: 1, stdout: []string{`"verdict": "disallowed"`, `"handler": null`, `"length": 1`}},
		{name: "enforce", args: with("-u", gptBot, "http://a.test/x"), code: 1, stdout: []string{"robots_guard of a.test, mode enforce: action blocked"}},
		{name: "only_log", args: with("-u", bingbot, "https://a.test/private/"), code: 1, stdout: []string{"action logged, only_log or spoofed spares it"}},
		{name: "another site", args: with("-r", robots, "-u", bingbot, "https://b.test//private/"), code: 0, stdout: []string{"robots_guard of b.test, mode monitor: action none"}},
		{name: "a site without the directive", args: with("-r", robots, "-u", bingbot, "https://c.test/"), code: 2, stderr: []string{"no robots_guard is for c.test; there are sites for a.test, b.test, d.test"}},
		{name: "behind a matcher", args: with("-r", robots, "-u", bingbot, "https://d.test/open"), code: 0, stdout: []string{"robots_guard of d.test", "matchers beside the host stand before it"}},
		{name: "no site", args: with("-r", robots, "-u", bingbot, "/"), code: 2, stderr: []string{"several sites use robots_guard"}},
		{name: "no guard", args: []string{"explain", "--config", filepath.Join(dir, "none"), "--adapter", "caddyfile", "-r", robots, "-u", "x", "/"}, code: 2, stderr: []string{"no site has the directive robots_guard"}},
		{name: "a broken configuration", args: []string{"explain", "--config", filepath.Join(dir, "broken"), "--adapter", "caddyfile", "-r", robots, "-u", "x", "/"}, code: 2, stderr: []string{"broken:2", "sometimes"}},
		{name: "the site's own file", args: []string{"explain", "-u", gptBot, o.URL + "/x"}, code: 1, stdout: []string{o.URL + "/robots.txt, 5 rules"}},
		{name: "a site without one", args: []string{"explain", "-u", gptBot, none.URL + "/x"}, code: 0, stdout: []string{"the server answers 404: there is none", "no group is for it"}},
		{name: "a path of no site", args: []string{"explain", "-u", gptBot, "/x"}, code: 2, stderr: []string{"names no site"}},
		{name: "a directory", args: []string{"explain", "-r", dir, "-u", gptBot, "/x"}, code: 2, stderr: []string{"is a directory"}},
		{name: "no User-Agent", args: []string{"explain", "-r", robots, "/"}, code: 2, stderr: []string{"no --user-agent given"}},
		{name: "two URLs", args: []string{"explain", "-r", robots, "-u", "x", "/", "/"}, code: 2, stderr: []string{"give one URL"}},
		{name: "an unknown identity", args: []string{"explain", "-r", robots, "-u", "x", "--identity", "real", "/"}, code: 2, stderr: []string{"unknown identity"}},
	})
}

func TestCases(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"robots.txt": checked, "good.txt": "GPTBot / disallow\n* /open allow\n", "bad.txt": "GPTBot / allow\n",
		"broken.txt": "GPTBot / allow\nGPTBot allow\n", "binary": "\x00\x01\x02\x03\x04\x05\x06\x07",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	runPieces(t, []pieces{
		{name: "met", args: []string{"test", "-r", at("robots.txt"), at("good.txt")}, code: 0, stdout: []string{"1..2\nok 1 - GPTBot disallow /\nok 2 - * allow /open\n"}},
		{name: "not met", args: []string{"test", "-r", at("robots.txt"), at("good.txt"), at("bad.txt")}, code: 1, stdout: []string{"not ok 3 - GPTBot allow /", `because: "Disallow: / in line 6 of group GPTBot"`}},
		{name: "junit", args: []string{"test", "-r", at("robots.txt"), "--format", "junit", at("bad.txt")}, code: 1, stdout: []string{`<testsuites tests="1" failures="1">`, `message="expected allow, got disallow"`}},
		{name: "a User-Agent", args: []string{"test", "-r", at("robots.txt"), "-"}, stdin: `"` + firefox + `" /private/ allow`, code: 0, stdout: []string{"ok 1 - Mozilla"}},
		{name: "a broken table", args: []string{"test", "-r", at("robots.txt"), at("broken.txt")}, code: 2, stderr: []string{"broken.txt:2: 2 fields instead of three"}},
		{name: "no table", args: []string{"test", "-r", at("robots.txt")}, code: 2, stderr: []string{"no table of cases given"}},
		{name: "no such table", args: []string{"test", "-r", at("robots.txt"), at("nothing")}, code: 2, stderr: []string{"there is no file"}},
		{name: "a directory", args: []string{"test", "-r", at("robots.txt"), dir}, code: 2, stderr: []string{"is a directory"}},
		{name: "a binary table", args: []string{"test", "-r", at("robots.txt"), at("binary")}, code: 2, stderr: []string{"binary file"}},
		{name: "an empty table", args: []string{"test", "-r", at("robots.txt"), "-"}, code: 2, stderr: []string{"there is no case in it"}},
		{name: "no robots.txt", args: []string{"test", "-r", at("nothing"), at("good.txt")}, code: 2, stderr: []string{"there is no file"}},
	})
}

func TestDiff(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"old.txt": checked, "new.txt": checked + "\nUser-agent: bingbot\nDisallow: /shop/\n"})
	old, edited := filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")
	runPieces(t, []pieces{
		{name: "a search engine", args: []string{"diff", old, edited}, code: 1, stdout: []string{
			"1 rule added, 0 removed\n\nsearch: bingbot", "  group: bingbot, before *\n", "    /shop/  by Disallow: /shop/ (line 15)\n", "may fetch now"}},
		{name: "back", args: []string{"diff", "--fail-on", "search-block", edited, old}, code: 1, stdout: []string{"/private/  by Disallow: /private/ (line 2)"}},
		{name: "nothing", args: []string{"diff", "--fail-on", "change", old, old}, code: 0, stdout: []string{"No verdict is found to change.\n"}},
		{name: "an assistant only", args: []string{"diff", old, "-"}, stdin: checked + "\nUser-agent: CCBot\nDisallow: /\n", code: 0, stdout: []string{"ai_training: CCBot"}},
		{name: "any block", args: []string{"diff", "--fail-on", "any-block", old, "-"}, stdin: checked + "\nUser-agent: CCBot\nDisallow: /\n", code: 1, stdout: []string{"ai_training: CCBot"}},
		{name: "json", args: []string{"diff", "--json", "--fail-on", "never", old, edited}, code: 0, stdout: []string{`"old_group": "*"`, `"url": "/shop/"`}},
		{name: "flags about logs without one", args: []string{"diff", "--since", "1d", old, edited}, code: 2, stderr: []string{"name one with --log"}},
		{name: "one file", args: []string{"diff", old}, code: 2, stderr: []string{"give two files"}},
		{name: "twice standard input", args: []string{"diff", "-", "-"}, code: 2, stderr: []string{"only one of the two"}},
		{name: "an unknown condition", args: []string{"diff", "--fail-on", "x", old, old}, code: 2, stderr: []string{"search-block, any-block, change or never"}},
		{name: "no such file", args: []string{"diff", "/no/such/file", old}, code: 2, stderr: []string{"/no/such/file"}},
	})
}

// TestDiffLog replays logs that nginx, Apache and Caddy wrote: what is counted is
// what changed for real requests.
func TestDiffLog(t *testing.T) {
	t.Parallel()
	servers := filepath.Join("..", "internal", "replay", "testdata")
	nginx, apache, caddy := filepath.Join(servers, "nginx-combined.log"), filepath.Join(servers, "apache-vhost.log"), filepath.Join(servers, "caddy.log")
	const private = "User-agent: *\nDisallow: /private/\n"
	dir := files(t, map[string]string{
		"old.txt": private, "blog.txt": private + "Disallow: /blog/\n", "open.txt": "User-agent: *\nDisallow:\n",
		"gpt.txt": private + "\nUser-agent: Googlebot\nDisallow:\n", "empty.log": "",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	old := at("old.txt")
	runPieces(t, []pieces{
		{name: "real requests are blocked", args: []string{"diff", at("open.txt"), old, "--log", nginx}, code: 1, stdout: []string{
			"39 lines from 2026-11-21T15:36:53Z", "The edit blocks 26 and opens 0 of them.\n",
			"CRAWLER    CLASS        REQUESTS  BLOCKED  OPENED\nGooglebot  search       22        20       0\nGPTBot     ai_training  7         6        0\n",
			"blocked  no rule  Disallow: /private/ (line 2)  26        Googlebot 20, GPTBot 6\n", "//private//x"}},
		{name: "no real request is, though rules come", args: []string{"diff", old, at("blog.txt"), "--log", nginx}, code: 0, stdout: []string{
			"    /blog/  by Disallow: /blog/ (line 3)\n", "The edit blocks 0 and opens 0 of them.\n"}},
		{name: "requests are opened", args: []string{"diff", "--fail-on", "any-block", old, at("gpt.txt"), "--log", nginx}, code: 0, stdout: []string{
			"opens 20 of them", "opened  Disallow: /private/ (line 2)  no rule  20        Googlebot 20\n"}},
		{name: "a change", args: []string{"diff", "--fail-on", "change", old, at("gpt.txt"), "--log", nginx}, code: 1, stdout: []string{"opens 20"}},
		{name: "another class only", args: []string{"diff", at("open.txt"), "-", "--log", nginx}, stdin: "User-agent: GPTBot\nDisallow: /\n", code: 0, stdout: []string{"blocks 6"}},
		{name: "any class", args: []string{"diff", "--fail-on", "any-block", at("open.txt"), "-", "--log", nginx}, stdin: "User-agent: GPTBot\nDisallow: /\n", code: 1},
		{name: "several logs and formats", args: []string{"diff", at("open.txt"), old, "--log", nginx, apache, caddy}, code: 1, stdout: []string{
			"combined", "vhost_combined", "caddy "}},
		{name: "a site", args: []string{"diff", at("open.txt"), old, "--site", "other.example", "--log", caddy, "--json"}, code: 1, stdout: []string{
			`"sites": [`, `"blocked": 1,`, `"path": "/private/otherhost"`}},
		{name: "a time without requests leaves it to the files", args: []string{"diff", "--until", "2026-11-20", at("open.txt"), old, "--log", nginx}, code: 1, stdout: []string{"blocks 0 and"}},
		{name: "an empty log, too", args: []string{"diff", at("open.txt"), old, "--log", at("empty.log")}, code: 1, stdout: []string{"empty.log is empty."}},
		{name: "a format", args: []string{"diff", at("open.txt"), old, "--log", "-", "--format", "$request_uri $http_user_agent"}, stdin: "/private/a GPTBot/1.2\n", code: 0, stdout: []string{"GPTBot", "blocks 1"}},
		{name: "no such log", args: []string{"diff", old, old, "--log", at("no.log")}, code: 2, stderr: []string{"no.log does not exist"}},
		{name: "a log as a third file", args: []string{"diff", old, old, nginx}, code: 2, stderr: []string{"give two files"}},
		{name: "one standard input", args: []string{"diff", old, "-", "--log", "-"}, code: 2, stderr: []string{"only one of the files and logs"}},
	})
}

// shell runs a script as CI does and returns its exit status.
func shell(t *testing.T, dir, script string, env ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Env = append(cmd.Env, env...)
	all, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return string(all), cmd.ProcessState.ExitCode()
}

// needs skips a test where a program is missing that its user would have.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s on this machine, and the examples are shell commands that use it", program)
		}
	}
}

// TestHelpExamples runs the examples of the commands' help, as docs/commands.md
// has them, but those that ask a server.
func TestHelpExamples(t *testing.T) {
	needs(t, "sh", "git", "gzip", "zcat")
	page, err := os.ReadFile("../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{
		"robots.txt": checked, "robots.new.txt": checked + "\nUser-agent: CCBot\nDisallow: /\n",
		"cases.txt": "GPTBot / disallow\n", "cases.jsonl": `{"token":"GPTBot","url":"/","expect":"disallow"}` + "\n",
		"user-agents.txt": gptBot + "\n", "Caddyfile": "example.com {\n\trobots_guard enforce\n}\n", "access.log": logLine("/private/a", firefox),
		"custom.log":              "192.0.2.1 [21/Nov/2026:12:00:00 +0000] \"GET /private/a HTTP/1.1\" 200 \"GPTBot/1.2\"\n",
		"versions/2026-11-01.txt": checked,
	})
	if out, code := shell(t, dir, "git init -q && git add robots.txt && git commit -qm one && git commit -q --allow-empty -m two && mkdir logs && gzip -c access.log >logs/1.gz"); code != 0 {
		t.Fatal(out)
	}
	want := map[string]int{ // exit statuses but 0
		"caddy robots-guard check --robots robots.txt --token GPTBot /private/report":                                             1,
		`caddy robots-guard explain --robots robots.txt --user-agent "Mozilla/5.0 (compatible; GPTBot/1.3)" /private/report`:      1,
		"caddy robots-guard explain --robots robots.txt --config Caddyfile --user-agent Bingbot/2.0 https://example.com/private/": 1,
		"caddy robots-guard diff --fail-on any-block --json robots.txt robots.new.txt":                                            1,
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if line == "" || strings.Contains(line, "https://example.com/robots.txt") || regexp.MustCompile(`robots-guard (policies|verify)`).MatchString(line) {
				continue // these need a network or a server
			}
			ran++
			line = strings.NewReplacer("/var/log/nginx/", "", "/var/log/caddy/", "").Replace(line)
			if out, code := shell(t, dir, line); code != want[line] || out == "" && !strings.Contains(line, ">") {
				t.Errorf("$ %s\nexit status %d, want %d\n%s", line, code, want[line], out)
			}
			delete(want, line)
		}
	}
	for line := range want {
		t.Errorf("there is no example %s", line)
	}
	if ran < 16 {
		t.Errorf("only %d examples were run", ran)
	}
}

// TestExampleCI runs what the CI snippets run, on a change that is harmless and
// on one that shuts a search engine out.
func TestExampleCI(t *testing.T) {
	needs(t, "sh", "git")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "examples", "ci", name))
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
			{"a search engine is shut out", robots + "\nUser-agent: bingbot\nDisallow: /shop/\n", 1, "/shop/"},
			{"an expectation fails", strings.Replace(robots, "User-agent: CCBot\n", "", 1), 1, ""},
			{"a finding", robots + "\nUser-agent: Gogolebot\nDisallow: /\n", 1, "Gogolebot"},
		} {
			t.Run(snippet.file+"/"+tc.name, func(t *testing.T) {
				dir := files(t, map[string]string{"robots.txt": robots, "robots-cases.txt": read("robots-cases.txt")})
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

// ciScript returns the commands of a snippet that use git or the commands under
// test; installing is done already.
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

// TestAdminExplain asks a running server for the reasons of a verdict.
func TestAdminExplain(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, checked, nil)
	admin := freePort(t)
	s := serve(t, "http://a.test:$PORT {\n\trobots_guard enforce {\n\t\tonly_log Bingbot\n\t}\n\treverse_proxy "+strings.TrimPrefix(o.URL, "http://")+"\n}\n",
		"admin off", "admin 127.0.0.1:"+admin)
	ask := func(method, body string) (status int, answer map[string]any, text string) {
		t.Helper()
		r, err := http.NewRequest(method, "http://127.0.0.1:"+admin+"/robots_guard/explain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text = readAll(response.Body)
		_ = json.Unmarshal([]byte(text), &answer) // an error has a text of its own
		return response.StatusCode, answer, text
	}
	about := func(path, userAgent string) string {
		return `{"user_agent":"` + userAgent + `","url":"` + s.url(path) + `"}`
	}
	status, answer, text := ask(http.MethodPost, about("/x", gptBot))
	if status != http.StatusOK || answer["verdict"] != "unknown" {
		t.Errorf("before the first request: %d %s", status, text)
	}
	eventually(t, "a crawler is blocked", func() bool { return get(t, s.url("/x"), gptBot).status == http.StatusForbidden })
	for _, tc := range []struct{ path, userAgent, verdict, action string }{
		{"/x", gptBot, "disallowed", "blocked"},
		{"/private/", bingbot, "disallowed", "logged"},
		{"/open", bingbot, "allowed", "none"},
		{"/x", firefox, "exempt", "none"},
	} {
		status, answer, text := ask(http.MethodPost, about(tc.path, tc.userAgent))
		handler, _ := answer["handler"].(map[string]any)
		if status != http.StatusOK || answer["verdict"] != tc.verdict || handler["action"] != tc.action || handler["site"] != "a.test" {
			t.Errorf("%s as %s: %d, want %s and %s\n%s", tc.path, tc.userAgent, status, tc.verdict, tc.action, text)
		}
	}
	for _, tc := range []struct {
		method, body string
		status       int
		says         string
	}{
		{http.MethodGet, "", http.StatusMethodNotAllowed, "use POST"},
		{http.MethodPost, "{", http.StatusBadRequest, "no JSON object"},
		{http.MethodPost, `{"user_agent":"x","url":"/x"}`, http.StatusBadRequest, "names no site"},
		{http.MethodPost, `{"user_agent":"x","url":"http://other.test/x"}`, http.StatusNotFound, "no robots_guard is for"},
		{http.MethodPost, `{"user_agent":"x","url":"http://a.test/x","identity":"real"}`, http.StatusBadRequest, "unknown identity"},
		{http.MethodPost, strings.Repeat(" ", 200<<10), http.StatusRequestEntityTooLarge, "more than"},
	} {
		if status, _, text := ask(tc.method, tc.body); status != tc.status || !strings.Contains(text, tc.says) {
			t.Errorf("%s %.60s: %d %s; want %d with %q", tc.method, tc.body, status, text, tc.status, tc.says)
		}
	}
}
