package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// audited is the tested part of the output of audit --json.
type audited struct {
	Lines, Malformed, Requests, Browsers, Other, Disallowed, Stale, Exempt uint64
	Incomplete                                                             string
	Crawlers                                                               []struct {
		Token, Class                                 string
		Requests, Allowed, Disallowed, Stale, Exempt uint64
		RobotsRequests                               uint64 `json:"robots_requests"`
	}
}

// logLine returns a line in the Combined format.
func logLine(target, userAgent string) string {
	return "192.0.2.1 - - [21/Nov/2026:12:00:00 +0000] \"GET " + target + " HTTP/1.1\" 200 5 \"-\" \"" + userAgent + "\"\n"
}

func TestAudit(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{
		"robots.txt": "User-agent: *\nDisallow: /private/\n",
		"access.log": logLine("/private/a", harness.GPTBot) + logLine("/private/a", harness.Firefox) + logLine("/", harness.Googlebot),
		"versions/robots-2026-11-21T11-00-00Z.txt": "User-agent: *\nDisallow: /private/\n",
		"versions/robots-2026-10-01.txt":           "",
		"hosts/a.example/robots.txt":               "User-agent: *\nDisallow: /private/\n",
		"hosts/b.example/robots.txt":               "User-agent: *\nDisallow: /b/\n",
	})
	for name, text := range map[string]string{
		"Caddyfile":       "example.com {\n\trobots_guard {\n\t\texempt ai_training\n\t\tsource file ROBOTS\n\t}\n}\n",
		"Caddyfile.sites": "a.example {\n\trobots_guard\n}\nb.example {\n\trobots_guard {\n\t\tonly_log GPTBot\n\t}\n}\n",
	} {
		text = strings.ReplaceAll(text, "ROBOTS", "`"+filepath.Join(dir, "robots.txt")+"`")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	robots, log := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "access.log")
	o := harness.NewOrigin(t, "User-agent: GPTBot\nDisallow: /\n", nil)
	both := []string{"GPTBot ai_training 1 0 1 0 0", "Googlebot search 1 1 0 0 0"}
	site := filepath.Join(dir, "Caddyfile")
	sites := filepath.Join(dir, "Caddyfile.sites")
	twoHosts := "a.example " + logLine("/private/a", harness.GPTBot) + "b.example " + logLine("/private/a", harness.GPTBot)
	for _, tc := range []struct {
		name  string
		args  []string
		stdin string
		want  []string // a row for each crawler: requests, allowed, disallowed, stale, exempt
	}{
		{"exempt by the configuration", []string{"-c", site, log}, "", []string{"GPTBot ai_training 1 0 0 0 1", "Googlebot search 1 1 0 0 0"}},
		{"sites with different settings", []string{"-c", sites, "-r", robots, "-"}, twoHosts, []string{"GPTBot ai_training 2 0 2 0 0"}},
		{"hosts", []string{"-r", filepath.Join(dir, "hosts"), "-"}, twoHosts, []string{"GPTBot ai_training 2 1 1 0 0"}},
		{"a file", []string{"--robots", robots, log}, "", both},
		{"a pattern", []string{"-r", robots, filepath.Join(dir, "acc*.log")}, "", both},
		{"standard input", []string{"-r", robots, "-"}, logLine("/private/a", harness.GPTBot), both[:1]},
		{"a URL", []string{"-r", o.URL + "/robots.txt", log}, "", both},
		{"the robots.txt of the site", []string{"--site", o.URL, log}, "", both},
		{"versions", []string{"-r", filepath.Join(dir, "versions"), log}, "", []string{"GPTBot ai_training 1 0 0 1 0", "Googlebot search 1 1 0 0 0"}},
		{"a period", []string{"-r", robots, "--until", "2026-11-21", log}, "", nil},
		{"JSON of nginx", []string{"-r", robots, "-"}, `{"time":"2026-11-21T12:00:00Z","request_uri":"/private/a","status":200,"http_user_agent":"GPTBot/1.2"}` + "\n", both[:1]},
		{"JSON of Traefik", []string{"-r", robots, "-"}, `{"StartUTC":"2026-11-21T12:00:00Z","RequestPath":"/private/a","DownstreamStatus":200,"request_User-Agent":"GPTBot/1.2"}` + "\n", both[:1]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := harness.Command(t, tc.stdin, append([]string{"robots-guard", "audit", "--json"}, tc.args...)...)
			var report audited
			if err := json.Unmarshal([]byte(stdout), &report); err != nil {
				t.Fatal(err, stderr)
			}
			var got []string
			for _, c := range report.Crawlers {
				got = append(got, fmt.Sprint(c.Token, " ", c.Class, " ", c.Requests, c.Allowed, c.Disallowed, c.Stale, c.Exempt))
			}
			if !slices.Equal(got, tc.want) || (code == 1) != (report.Disallowed > 0) || code > 1 {
				t.Errorf("%q, exit status %d, want %q; %s", got, code, tc.want, stderr)
			}
		})
	}
	runCommands(t, []commandCase{
		{name: "several sites", args: []string{"audit", "-c", sites, "-r", robots, log}, code: 2, stderr: "several sites use robots_guard, and the logs contain no hosts; choose one with --site"},
		{name: "a site that is not there", args: []string{"audit", "-c", sites, "-r", robots, "--site", "c.example", log}, code: 2, stderr: "no robots_guard is configured for c.example"},
		{name: "JSON of Traefik without the User-Agent", args: []string{"audit", "-r", robots, "-"},
			stdin: `{"StartUTC":"2026-11-21T12:00:00Z","RequestPath":"/private/a","DownstreamStatus":200}` + "\n", code: 2, stderr: "accessLog.fields.headers.names.User-Agent: keep"},
		{name: "another format", args: []string{"audit", "-r", robots, "-"}, stdin: "#Version: 1.0\n", code: 2, stderr: "standard input: line 1: a W3C extended log"},
		{name: "an empty log", args: []string{"audit", "-r", robots, "-"},
			stdout: "LOG             FORMAT  LINES  MALFORMED\nstandard input  -       0      0\n\n" +
				"0 lines: 0 requests of robots and other programs, 0 of browsers. 0 are disallowed.\n\nstandard input is empty.\n"},
		{name: "no log", args: []string{"audit", "-r", robots}, code: 2, stderr: "no log given"},
		{name: "no robots.txt", args: []string{"audit", log}, code: 2, stderr: "--robots"},
		{name: "both on standard input", args: []string{"audit", "-r", "-", "-"}, code: 2, stderr: "--robots cannot be standard input"},
		{name: "no such robots.txt", args: []string{"audit", "-r", filepath.Join(dir, "no.txt"), log}, code: 2, stderr: "no.txt"},
		{name: "no such log", args: []string{"audit", "-r", robots, filepath.Join(dir, "no.log")}, code: 2, stderr: "no.log does not exist"},
		{name: "a directory", args: []string{"audit", "-r", robots, dir}, code: 2, stderr: "is a directory; give its files"},
		{name: "a bad time", args: []string{"audit", "-r", robots, "--since", "yesterday", log}, code: 2, stderr: "is not a time; write for example 2026-11-20"},
		{name: "a bad site", args: []string{"audit", "-r", robots, "--site", "a/b", log}, code: 2, stderr: "is not a site; write one like example.com"},
	})
}

// TestAuditOnlyLog checks that the audit counts requests under only_log as disallowed,
// but not as requests that enforce would block.
func TestAuditOnlyLog(t *testing.T) {
	t.Parallel()
	dir := harness.Files(t, map[string]string{
		"robots.txt": "User-agent: *\nDisallow: /private/\n", "access.log": logLine("/private/a", harness.GPTBot) + logLine("/private/a", harness.Googlebot),
		"Caddyfile": "b.example {\n\t@x path /x\n\trobots_guard @x {\n\t\tonly_log GPTBot\n\t}\n}\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	runCommands(t, []commandCase{{name: "only_log", args: []string{"audit", "-c", at("Caddyfile"), "-r", at("robots.txt"), at("access.log")}, code: 1, parts: []string{
		"2 are disallowed", "CLASS        REQUESTS  ENFORCE WOULD BLOCK\nai_training  1         0\nsearch       1         1\n",
		"has matchers other than the host; the audit assumes that all requests match.",
	}}})
}

// TestAuditAgreesWithTheServer compares the audit of an access log with the verdicts
// that the guard wrote into the same log.
func TestAuditAgreesWithTheServer(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "access.log")
	robots := "User-agent: *\nDisallow: /private/\nAllow: /private/press/\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: curl\nDisallow: /nocurl\n\nUser-agent: zorkly\nDisallow: /nozorkly\n"
	s := harness.Serve(t, `http://a.test:$PORT {
	log {
		output file $LOG
	}
	robots_guard enforce
	handle /robots.txt {
		respond `+"`$ROBOTS`"+`
	}
	respond "page"
}
`, "$LOG", filepath.ToSlash(log), "$ROBOTS", robots)
	s.Warm("/")
	asked := 1
	for _, userAgent := range []string{harness.Firefox, harness.GPTBot, harness.Googlebot, harness.GooglebotImage, harness.Bingbot, harness.AdsBot, harness.Slack, harness.Facebook, harness.Feedly, harness.UptimeRobot, harness.ChatGPTUser, harness.Headless, harness.FooBot, harness.Curl, "Zorkly/2.0", ""} {
		for _, target := range []string{"/", "/private/x", "/%70rivate//x?y=%22z%22", "/private/press/x", "/nocurl", "/nozorkly", "/robots.txt", "/x/../private/\"q\\", "/ünï"} {
			harness.Raw(t, s, "GET "+target+" HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: "+userAgent+"\r\nConnection: close\r\n\r\n")
			asked++
		}
	}
	type key struct{ crawler, class, verdict string }
	want := make(map[key]uint64)
	var unjudged uint64
	harness.Eventually(t, "all requests are in the log", func() bool {
		text, err := os.ReadFile(log)
		if err != nil || bytes.Count(text, []byte("\n")) < asked {
			return false
		}
		clear(want)
		unjudged = 0
		for line := range strings.Lines(string(text)) {
			var fields struct {
				Guard *struct{ Verdict, Crawler, Class string } `json:"robots_guard"`
			}
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			if g := fields.Guard; g != nil {
				if g.Crawler == "FooBarBot" { // its name is unknown without its User-Agent
					g.Crawler = "_other"
				}
				want[key{g.Crawler, g.Class, g.Verdict}]++
			} else {
				unjudged++
			}
		}
		return true
	})
	stdout, stderr, code := harness.Command(t, "", "robots-guard", "audit", "--json", "--robots", robotsFile(t, robots), "--site", "a.test", log)
	if code != 1 {
		t.Fatal(stderr)
	}
	var report audited
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	got := make(map[key]uint64)
	for _, c := range report.Crawlers {
		for verdict, n := range map[string]uint64{"allowed": c.Allowed, "disallowed": c.Disallowed, "stale": c.Stale, "exempt": c.Exempt} {
			if n > 0 {
				got[key{c.Token, c.Class, verdict}] = n
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || report.Browsers+report.Other != unjudged || report.Malformed != 0 {
		t.Errorf("the audit has\n%v and %d without a verdict, the server has\n%v and %d", got, report.Browsers+report.Other, want, unjudged)
	}
	if len(want) < 20 {
		t.Errorf("only %d kinds of verdicts", len(want))
	}
}

// robotsFile writes a robots.txt into a new directory.
func robotsFile(t *testing.T, text string) string {
	t.Helper()
	return filepath.Join(harness.Files(t, map[string]string{"robots.txt": text}), "robots.txt")
}

// TestAuditInterrupted interrupts an audit of an endless log.
func TestAuditInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send Ctrl-C to another on Windows")
	}
	t.Parallel()
	cmd := exec.Command(harness.Binary(t), "robots-guard", "audit", "--json", "--robots", robotsFile(t, "User-agent: *\nDisallow: /private/\n"), "-")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The lines exceed the size of the pipe and the buffers, so the audit has begun
	// once all are written.
	if _, err := io.WriteString(in, strings.Repeat(logLine("/private/a", harness.GPTBot), 60000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit status is checked below
	_ = in.Close()
	var report audited
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stderr.String(), "interrupted") || !strings.Contains(report.Incomplete, "interrupted") ||
		report.Lines == 0 || report.Lines != report.Disallowed || report.Malformed != 0 {
		t.Errorf("exit status %d, %s, %+v", code, stderr.String(), report)
	}
}

// TestAuditMemory audits two logs of random crawlers and paths, one ten times as long.
func TestAuditMemory(t *testing.T) {
	t.Parallel()
	robots := robotsFile(t, "User-agent: *\nDisallow: /private/\n")
	rss := func(lines int) int64 {
		cmd := exec.Command(harness.Binary(t), "robots-guard", "audit", "--json", "--robots", robots, "-")
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // each worker uses some memory
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for i := range lines {
			if _, err := io.WriteString(in, logLine(fmt.Sprintf("/private/%d", i), fmt.Sprintf("Invented%dBot/1.0 (+https://x%d.example)", i, i))); err != nil {
				t.Fatal(err)
			}
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1 for violations
			t.Fatal(err)
		}
		bytes, _ := harness.MaxRSS(cmd.ProcessState)
		return bytes
	}
	lines := 10_000
	if harness.Long() {
		lines = 100_000
	}
	small, large := rss(lines), rss(10*lines)
	t.Logf("%d MB for %d lines, %d MB for ten times as many", small>>20, lines, large>>20)
	if large > small+30<<20 {
		t.Errorf("memory grows with the log: %d MB for %d lines, %d MB for ten times as many", small>>20, lines, large>>20)
	}
}
