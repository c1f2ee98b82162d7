package commands

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// checked is a robots.txt with several groups.
const checked = `User-agent: *
Disallow: /private/
Allow: /private/press/

User-agent: GPTBot
Disallow: /

User-agent: curl
Disallow: /nocurl

User-agent: zorkly
Disallow: /nozorkly
`

// commandCase is a run of a command.
type commandCase struct {
	name   string
	args   []string
	stdin  string
	code   int
	stdout string   // the whole output, unless parts is set
	parts  []string // of the output
	stderr string   // a part of it; "" for nothing
}

func runCommands(t *testing.T, all []commandCase) {
	t.Helper()
	for _, tc := range all {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := harness.Command(t, tc.stdin, append([]string{"robots-guard"}, tc.args...)...)
			if code != tc.code {
				t.Errorf("exit status %d, want %d; %s", code, tc.code, stderr)
			}
			if tc.parts == nil && stdout != tc.stdout {
				t.Errorf("got\n%swant\n%s", stdout, tc.stdout)
			}
			for _, part := range tc.parts {
				if !strings.Contains(stdout, part) {
					t.Errorf("no %q in\n%s", part, stdout)
				}
			}
			if !strings.Contains(stderr, tc.stderr) || tc.stderr == "" && stderr != "" {
				t.Errorf("got on standard error\n%s\nwant %q", stderr, tc.stderr)
			}
			for line := range strings.Lines(stderr) {
				if !strings.HasPrefix(line, "error: ") && !strings.HasPrefix(line, "  ") {
					t.Errorf("a line on standard error that is not an error: %q", line)
				}
			}
		})
	}
}

func TestExplainBrief(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{"robots.txt": checked, "empty.txt": "", "page.html": "<!doctype html><html></html>"})
	robots, empty := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "empty.txt")
	o := harness.NewOrigin(t, checked, nil)
	broken := harness.NewOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	none := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		http.NotFound(w, r)
		return true
	})
	ownSite := func(url string) string {
		return `{"url":"` + url + `","allowed":false,"verdict":"disallowed","rule":"Disallow: /","line":6,"group":"GPTBot","group_line":5,"ambiguous":false,"crawler":"GPTBot"}` + "\n"
	}
	table := func(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

	runCommands(t, []commandCase{
		{name: "table", args: []string{"explain", "--brief", "--robots", robots, "--token", "Bingbot", "/private/x", "/private/press/x", "/open"}, code: 1,
			stdout: table(
				"VERDICT     URL               LINE  RULE                    GROUP",
				"disallowed  /private/x        2     Disallow: /private/     *",
				"allowed     /private/press/x  3     Allow: /private/press/  *",
				"allowed     /open             -     -                       *")},
		{name: "all allowed", args: []string{"explain", "--brief", "-r", robots, "-t", "Bingbot", "/open"}, code: 0,
			stdout: table(
				"VERDICT  URL    LINE  RULE  GROUP",
				"allowed  /open  -     -     *")},
		{name: "json", args: []string{"explain", "--brief", "--robots", robots, "--token", "GPTBot", "--json", "http://a.test/x#y"}, code: 1,
			stdout: `{"url":"http://a.test/x#y","allowed":false,"verdict":"disallowed","rule":"Disallow: /","line":6,"group":"GPTBot","group_line":5,"ambiguous":false,"crawler":"GPTBot"}` + "\n"},
		{name: "json in another form", args: []string{"explain", "--brief", "--robots", robots, "--json", "//%70rivate//x"}, code: 1,
			stdout: `{"url":"//%70rivate//x","allowed":false,"verdict":"disallowed","rule":"Disallow: /private/","line":2,"group":"*","group_line":1,"form":"slashes","ambiguous":false}` + "\n"},
		{name: "User-Agent of a browser", args: []string{"explain", "--brief", "--robots", robots, "--json", "--user-agent", harness.Firefox, "/private/x"}, code: 0,
			stdout: `{"url":"/private/x","allowed":true,"verdict":"exempt","rule":"","line":0,"group":"","ambiguous":false,"class":"browser"}` + "\n"},
		{name: "empty User-Agent", args: []string{"explain", "--brief", "--robots", robots, "--json", "--user-agent", "", "/private/x"}, code: 0,
			stdout: `{"url":"/private/x","allowed":true,"verdict":"exempt","rule":"","line":0,"group":"","ambiguous":false,"class":"browser"}` + "\n"},
		{name: "User-Agent of a library", args: []string{"explain", "--brief", "--robots", robots, "--json", "--user-agent", harness.Curl, "/private/x", "/nocurl"}, code: 1,
			stdout: `{"url":"/private/x","allowed":true,"verdict":"allowed","rule":"","line":0,"group":"curl","group_line":8,"ambiguous":false,"crawler":"curl","class":"library","identity":"claimed"}` + "\n" +
				`{"url":"/nocurl","allowed":false,"verdict":"disallowed","rule":"Disallow: /nocurl","line":9,"group":"curl","group_line":8,"ambiguous":false,"crawler":"curl","class":"library","identity":"claimed"}` + "\n"},
		{name: "a false name gains nothing", args: []string{"explain", "--brief", "--robots", robots, "--json", "--user-agent", harness.Curl, "--identity", "spoofed", "/private/x"}, code: 1,
			stdout: `{"url":"/private/x","allowed":false,"verdict":"disallowed","rule":"Disallow: /private/","line":2,"group":"*","group_line":1,"ambiguous":false,"crawler":"curl","class":"library","identity":"spoofed"}` + "\n"},
		{name: "unknown identity", args: []string{"explain", "--brief", "--robots", robots, "--user-agent", harness.Curl, "--identity", "fake", "/"}, code: 2, stderr: "claimed, verified, unknown and spoofed"},
		{name: "identity of a token", args: []string{"explain", "--brief", "--robots", robots, "--token", "curl", "--identity", "spoofed", "/"}, code: 2, stderr: "--identity and --token cannot be used together"},
		{name: "User-Agent that only the file knows", args: []string{"explain", "--brief", "--robots", robots, "--json", "--user-agent", "Zorkly/2.0", "/nozorkly"}, code: 1,
			stdout: `{"url":"/nozorkly","allowed":false,"verdict":"disallowed","rule":"Disallow: /nozorkly","line":12,"group":"zorkly","group_line":11,"ambiguous":false,"crawler":"zorkly","class":"other","identity":"claimed"}` + "\n"},
		{name: "empty file", args: []string{"explain", "--brief", "--robots", empty, "--token", "GPTBot", "/"}, code: 0,
			stdout: table("VERDICT  URL  LINE  RULE  GROUP", "allowed  /    -     -     -")},
		{name: "standard input", args: []string{"explain", "--brief", "--robots", "-", "--token", "GPTBot", "/"}, stdin: checked, code: 1,
			stdout: table("VERDICT     URL  LINE  RULE         GROUP", "disallowed  /    6     Disallow: /  GPTBot")},
		{name: "robots URL", args: []string{"explain", "--brief", "--robots", o.URL + "/robots.txt", "--token", "GPTBot", "/"}, code: 1,
			stdout: table("VERDICT     URL  LINE  RULE         GROUP", "disallowed  /    6     Disallow: /  GPTBot")},
		{name: "own site", args: []string{"explain", "--brief", "--token", "GPTBot", "--json", o.URL + "/x", o.URL, o.URL + "?q"}, code: 1,
			stdout: ownSite(o.URL+"/x") + ownSite(o.URL) + ownSite(o.URL+"?q")},
		{name: "own site without a robots.txt", args: []string{"explain", "--brief", "--token", "GPTBot", "--json", none.URL + "/x"}, code: 0,
			stdout: `{"url":"` + none.URL + `/x","allowed":true,"verdict":"allowed","rule":"","line":0,"group":"","ambiguous":false,"crawler":"GPTBot"}` + "\n"},
		{name: "own site that fails", args: []string{"explain", "--brief", "--token", "GPTBot", broken.URL + "/x"}, code: 2, stderr: "the server answers 500"},
		{name: "connection refused", args: []string{"explain", "--brief", "--robots", "http://127.0.0.1:1/robots.txt", "/x"}, code: 2, stderr: "cannot read http://127.0.0.1:1/robots.txt"},
		{name: "no such file", args: []string{"explain", "--brief", "--robots", "/no/such/file", "/x"}, code: 2, stderr: "/no/such/file"},
		{name: "a directory", args: []string{"explain", "--brief", "--robots", dir, "/x"}, code: 2, stderr: dir},
		{name: "no URL", args: []string{"explain", "--brief", "--robots", robots}, code: 2, stderr: "no URL given"},
		{name: "path without a site", args: []string{"explain", "--brief", "/x"}, code: 2, stderr: "--robots"},
		{name: "two claims", args: []string{"explain", "--brief", "--robots", robots, "--token", "a", "--user-agent", "b", "/x"}, code: 2, stderr: "--token and --user-agent cannot be used together"},
		{name: "unknown flag", args: []string{"explain", "--brief", "--robot", robots, "/x"}, code: 2, stderr: "--robot"},
		{name: "batch and brief", args: []string{"explain", "--batch", "--brief"}, code: 2, stderr: "--batch and --brief cannot be used together"},
		{name: "batch and more", args: []string{"explain", "--batch", "/x"}, code: 2, stderr: "--batch"},
		{name: "unknown command", args: []string{"explan"}, code: 2, stderr: "explan"},
	})
}
