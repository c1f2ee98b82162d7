package commands

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// linted is a robots.txt with an error and a warning.
const linted = "User-agent: *\nDisallow: private/\n\nUser-agent: Gogolebot\nDisallow: /x\n"

func TestLint(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{
		"robots.txt": linted, "good.txt": checked, "empty.txt": "",
		"binary": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00\x01\x00\x00\x00",
	})
	bad, good := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "good.txt")
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /x\n\nSitemap: https://elsewhere.test/s.xml\n", nil)
	none := harness.NewOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<!doctype html><p>Not found"))
		return true
	})
	page := harness.NewOrigin(t, "<!doctype html><p>Welcome", nil)
	broken := harness.NewOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	runCommands(t, []commandCase{
		{name: "text", args: []string{"lint", bad}, code: 1, parts: []string{
			bad + `:2:11: error: "private/" does not start with / or *`, "[rule-without-slash]\n",
			bad + `:4:13: warning: no known crawler is called "Gogolebot"; did you mean Googlebot? [misspelt-crawler]`,
			bad + ": 1 error, 1 warning\n"}},
		{name: "no findings", args: []string{"lint", good}, code: 0, parts: []string{good + ": no findings\n"}},
		{name: "standard input", args: []string{"lint", "-"}, stdin: linted, code: 1, parts: []string{"-:2:11: error: "}},
		{name: "a later severity", args: []string{"lint", "--fail-on", "info", "-"}, stdin: "User-agent: *\nDisallow: /a\nDisallow: /a\n", code: 1, parts: []string{"[duplicate-rule]"}},
		{name: "not so severe", args: []string{"lint", "-"}, stdin: "User-agent: *\nDisallow: /a\nDisallow: /a\n", code: 0, parts: []string{"[duplicate-rule]"}},
		{name: "never", args: []string{"lint", "--fail-on", "never", bad}, code: 0, parts: []string{"error"}},
		{name: "github", args: []string{"lint", "--github", "-"}, stdin: linted, code: 1, parts: []string{"::error file=-,line=2,col=11,title=rule-without-slash::"}},
		{name: "json", args: []string{"lint", "--json", bad}, code: 1, parts: []string{`"code": "rule-without-slash"`, `"errors": 1`}},
		{name: "readings", args: []string{"lint", "--readings", "-"}, stdin: checked, code: 0, parts: []string{"how crawlers read this file", "GPTBot (line 5)"}},
		{name: "a URL", args: []string{"lint", o.URL}, code: 0, parts: []string{o.URL + "/robots.txt:4:10: info: the sitemap is on \"elsewhere.test\"", "[sitemap-other-host]"}},
		{name: "a site", args: []string{"lint", "--site", "https://a.test", "-"}, stdin: "User-agent: *\nDisallow: /x\nSitemap: https://b.test/x\n", code: 0, parts: []string{"[sitemap-other-host]"}},
		{name: "empty", args: []string{"lint", filepath.Join(dir, "empty.txt")}, code: 0, parts: []string{"[empty-file]"}},
		{name: "a page in its place", args: []string{"lint", page.URL}, code: 1, parts: []string{"error: this is a web page", "[html]"}},
		{name: "a page that says 404", args: []string{"lint", none.URL + "/robots.txt"}, code: 2, stderr: none.URL + "/robots.txt: the server answers 404, so there is no robots.txt"},
		{name: "a server that fails", args: []string{"lint", broken.URL}, code: 2, stderr: "the server answers 502; try again later"},
		{name: "connection refused", args: []string{"lint", "http://127.0.0.1:1/robots.txt"}, code: 2, stderr: "cannot read http://127.0.0.1:1/robots.txt"},
		{name: "a directory", args: []string{"lint", dir}, code: 2, stderr: dir + " is a directory; give a file in the directory"},
		{name: "no such file", args: []string{"lint", "/no/such/file"}, code: 2, stderr: "file /no/such/file not found"},
		{name: "a binary file", args: []string{"lint", filepath.Join(dir, "binary")}, code: 2, stderr: "binary is a binary file"},
		{name: "one of two is missing", args: []string{"lint", "/no/such/file", good}, code: 2, parts: []string{"no findings"}, stderr: "/no/such/file"},
		{name: "an unknown severity", args: []string{"lint", "--fail-on", "bad", good}, code: 2, stderr: "--fail-on takes error, warning, info or never"},
		{name: "an unknown command", args: []string{"lnit"}, code: 2, stderr: `unknown command "lnit"; did you mean lint?`},
	})
	stdout, _, code := harness.Command(t, "", "__complete", "robots-guard", "lint", "--fail-on", "")
	if code != 0 || !strings.Contains(stdout, "warning") {
		t.Errorf("the shell completes --fail-on to %q, exit status %d", stdout, code)
	}
}

func TestExplainCommand(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{
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
	o := harness.NewOrigin(t, checked, nil)
	none := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		http.NotFound(w, r)
		return true
	})
	with := func(args ...string) []string {
		return append([]string{"explain", "--config", config, "--adapter", "caddyfile"}, args...)
	}
	runCommands(t, []commandCase{
		{name: "text", args: []string{"explain", "-r", robots, "-u", harness.GPTBot, "/x"}, code: 1, parts: []string{
			"claims to be GPTBot, class ai_training", "the group GPTBot in line 5 applies, with 1 rule", "disallowed: Disallow: / in line 6"}},
		{name: "json", args: []string{"explain", "-r", robots, "-u", harness.GPTBot, "--json", "/x"}, code: 1, parts: []string{`"verdict": "disallowed"`, `"handler": null`, `"length": 1`}},
		{name: "enforce", args: with("-u", harness.GPTBot, "http://a.test/x"), code: 1, parts: []string{"robots_guard of a.test, mode enforce: action blocked"}},
		{name: "only_log", args: with("-u", harness.Bingbot, "https://a.test/private/"), code: 1, parts: []string{"action logged, the option only_log or spoofed prevents the block"}},
		{name: "another site", args: with("-r", robots, "-u", harness.Bingbot, "https://b.test//private/"), code: 0, parts: []string{"robots_guard of b.test, mode monitor: action none"}},
		{name: "a site without the directive", args: with("-r", robots, "-u", harness.Bingbot, "https://c.test/"), code: 2, stderr: "no robots_guard is configured for c.test; configured sites: a.test, b.test, d.test"},
		{name: "behind a matcher", args: with("-r", robots, "-u", harness.Bingbot, "https://d.test/open"), code: 0, parts: []string{"robots_guard of d.test", "robots_guard has matchers other than the host"}},
		{name: "no site", args: with("-r", robots, "-u", harness.Bingbot, "/"), code: 2, stderr: "several sites use robots_guard"},
		{name: "no guard", args: []string{"explain", "--config", filepath.Join(dir, "none"), "--adapter", "caddyfile", "-r", robots, "-u", "x", "/"}, code: 2, stderr: "no site has the directive robots_guard"},
		{name: "a broken configuration", args: []string{"explain", "--config", filepath.Join(dir, "broken"), "--adapter", "caddyfile", "-r", robots, "-u", "x", "/"}, code: 2, stderr: "broken:2"},
		{name: "the site's own file", args: []string{"explain", "-u", harness.GPTBot, o.URL + "/x"}, code: 1, parts: []string{o.URL + "/robots.txt, 5 rules"}},
		{name: "a site without one", args: []string{"explain", "-u", harness.GPTBot, none.URL + "/x"}, code: 0, parts: []string{"responds with status 404, so there is no robots.txt and nothing is restricted", "no group applies to the crawler"}},
		{name: "a path of no site", args: []string{"explain", "-u", harness.GPTBot, "/x"}, code: 2, stderr: "has no host"},
		{name: "a directory", args: []string{"explain", "-r", dir, "-u", harness.GPTBot, "/x"}, code: 2, stderr: "is a directory"},
		{name: "no User-Agent", args: []string{"explain", "-r", robots, "/"}, code: 0, parts: []string{"the * group in line 1 applies"}},
		{name: "two URLs", args: []string{"explain", "-r", robots, "-u", "x", "/one", "/two"}, code: 0, parts: []string{"/one\n\nUser-Agent", "\n/two\n\nUser-Agent"}},
		{name: "an unknown identity", args: []string{"explain", "-r", robots, "-u", "x", "--identity", "real", "/"}, code: 2, stderr: "unknown identity"},
	})
}

func TestCases(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{
		"robots.txt": checked, "good.txt": "GPTBot / disallow\n* /open allow\n", "bad.txt": "GPTBot / allow\n",
		"licensed.txt": "License: https://a.example/license.xml\nUser-agent: *\nDisallow: /no/\n",
		"usage.txt":    "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y\nDisallow: /no/\n",
		"broken.txt":   "GPTBot / allow\nGPTBot allow\n", "binary": "\x00\x01\x02\x03\x04\x05\x06\x07",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	runCommands(t, []commandCase{
		{name: "met", args: []string{"test", "-r", at("robots.txt"), at("good.txt")}, code: 0, parts: []string{"1..2\nok 1 - GPTBot disallow /\nok 2 - * allow /open\n"}},
		{name: "not met", args: []string{"test", "-r", at("robots.txt"), at("good.txt"), at("bad.txt")}, code: 1, parts: []string{"not ok 3 - GPTBot allow /", `because: "Disallow: / in line 6 of group GPTBot"`}},
		{name: "json", args: []string{"test", "-r", at("robots.txt"), "--json", at("bad.txt")}, code: 1, parts: []string{`"passed": 0`, `"failed": 1`, `"expected": "allow"`, `"got": "disallow"`}},
		{name: "a User-Agent", args: []string{"test", "-r", at("robots.txt"), "-"}, stdin: `"` + harness.Firefox + `" /private/ allow`, code: 0, parts: []string{"ok 1 - Mozilla"}},
		{name: "preferences", args: []string{"test", "-r", at("usage.txt"), "-"}, code: 1,
			stdin: "* /x train-ai=n\nGPTBot /press/1 train-ai=y\nGPTBot /press/ search=y\n* /no/ train-ai=n\n",
			parts: []string{"1..4\nok 1 - * train-ai=n /x\nok 2 - GPTBot train-ai=y /press/1\nnot ok 3 - GPTBot search=y /press/\n",
				"got: search=unknown\n  because: \"Content-Usage in line 3\"", "because: \"preferences do not apply to a URL that is disallowed\""}},
		{name: "a license in explain", args: []string{"explain", "-r", at("licensed.txt"), "-t", "GPTBot", "/x"}, code: 0, parts: []string{"License: https://a.example/license.xml, terms for the whole file; they do not block fetching"}},
		{name: "a license in explain --brief", args: []string{"explain", "--brief", "-r", at("licensed.txt"), "-t", "GPTBot", "--json", "/x"}, code: 0, parts: []string{`"licenses":["https://a.example/license.xml"]`}},
		{name: "a broken preference", args: []string{"test", "-r", at("usage.txt"), "-"}, stdin: "* / allow\n* / train-ai=no\n",
			code: 2, stderr: "-:2: \"train-ai=no\" is not allow, disallow or a preference"},
		{name: "a broken table", args: []string{"test", "-r", at("robots.txt"), at("broken.txt")}, code: 2, stderr: "broken.txt:2: 2 fields instead of three"},
		{name: "no table", args: []string{"test", "-r", at("robots.txt")}, code: 2, stderr: "no table of test cases given"},
		{name: "no such table", args: []string{"test", "-r", at("robots.txt"), at("nothing")}, code: 2, stderr: " not found; check the name"},
		{name: "a directory", args: []string{"test", "-r", at("robots.txt"), dir}, code: 2, stderr: "is a directory"},
		{name: "a binary table", args: []string{"test", "-r", at("robots.txt"), at("binary")}, code: 2, stderr: "binary file"},
		{name: "an empty table", args: []string{"test", "-r", at("robots.txt"), "-"}, code: 2, stderr: "the file has no cases"},
		{name: "no robots.txt", args: []string{"test", "-r", at("nothing"), at("good.txt")}, code: 2, stderr: " not found; check the name"},
	})
}
