package logs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestHAProxy makes HAProxy write the log of docs/audit.md, and audits it. The sed
// command of the document removes the prefixes that rsyslog on Debian adds to each
// line.
func TestHAProxy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```haproxy\n(.*?)```").FindSubmatch(text)
	sed := regexp.MustCompile(`(?m)^sed '([^']*)' /var/log/haproxy.log \| `).FindSubmatch(text)
	if shown == nil || sed == nil {
		t.Fatal("the document lacks the configuration of HAProxy or the sed command")
	}
	port := harness.FreePort(t)
	dir := harness.Files(t, map[string]string{
		"robots.txt": "User-agent: *\nDisallow: /private/\n",
		"haproxy.cfg": "defaults\n\tmode http\n\ttimeout client 5s\n\ttimeout server 5s\n\ttimeout connect 5s\n" + string(shown[1]) +
			"\tbind 127.0.0.1:" + port + "\n\thttp-request return status 200 content-type text/plain string ok\n",
	})
	log := filepath.Join(dir, "haproxy.log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(harness.Program(t, "haproxy", "haproxy", "REQUIRE_PROXIES"), "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	cmd.Stdout = out
	harness.Attend(t, cmd, "127.0.0.1:"+port)

	s := &harness.Server{Port: port}
	send := func(head string) { harness.Raw(t, s, head+"\r\nConnection: close\r\n\r\n") }
	send("GET /private/a?b=\"c\" HTTP/1.1\r\nHost: a.test\r\nReferer: http://r.test/\"\\\r\nUser-Agent: GPTBot/1.2 \"quoted\" \\back\\slash \\x22 [x]")
	send("GET /private/[b]\\c HTTP/1.1\r\nHost: a.test:8080\r\nUser-Agent: bingbot/2.0\" 200 5 \"-\" \"Mozilla/5.0")
	send("GET /private/x HTTP/1.1\r\nHost: a.test 192.0.2.1 - - [26/Nov/2026:10:00:00 +0000] \"GET /forged HTTP/1.1\" 200 5 \"-\" \"x\r\nUser-Agent: GPTBot/1.3")
	send("GET /private/long" + strings.Repeat("a", 3000) + " HTTP/1.1\r\nHost: a.test\r\nUser-Agent: bingbot/2.0 " + strings.Repeat("z", 3000))
	send("GET /private/browser HTTP/1.1\r\nHost: a.test\r\nUser-Agent: " + harness.Firefox)
	send("GET /private/nobody HTTP/1.1\r\nHost: a.test")
	send("OPTIONS * HTTP/1.1\r\nHost: a.test\r\nUser-Agent: GPTBot/1.3")
	read := func() string {
		written, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(written)
	}
	of := regexp.MustCompile(`(?m)^a\.test`)
	harness.Eventually(t, "all requests are logged", func() bool { return len(of.FindAllString(read(), -1)) == 7 })

	lines := read()
	stdout, stderr, code := harness.Command(t, lines, "robots-guard", "audit", "--json", "--robots", filepath.Join(dir, "robots.txt"), "-")
	var report struct {
		Malformed, Browsers, Requests, Disallowed int
		Last                                      time.Time
		Logs                                      []struct{ Format string }
		Paths                                     []struct{ Path, Token string }
		Hosts                                     []struct{ Host string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 1 || len(report.Logs) != 1 {
		t.Fatalf("%d %v %s\n%s", code, err, stderr, stdout)
	}
	paths := make(map[string]string)
	for _, p := range report.Paths {
		paths[p.Path] = p.Token
	}
	if report.Logs[0].Format != "host_combined" || report.Malformed != 0 || report.Browsers != 2 || report.Requests != 4 || report.Disallowed != 4 ||
		len(report.Hosts) != 1 || time.Since(report.Last).Abs() > time.Hour ||
		paths["/private/a"] != "GPTBot" || paths[`/private/[b]\c`] != "bingbot" || paths["/private/x"] != "GPTBot" {
		t.Errorf("%+v\n%s", report, lines)
	}
	for _, prefix := range []string{"2026-11-26T10:49:50.454652+00:00 vm haproxy[25576]: ", "Nov 26 10:49:54 vm haproxy[25627]: "} {
		sed := exec.Command("sed", string(sed[1]))
		sed.Stdin = strings.NewReader(regexp.MustCompile("(?m)^(.)").ReplaceAllString(lines, prefix+"$1"))
		stripped, err := sed.Output()
		if err != nil || string(stripped) != lines {
			t.Errorf("sed of %q: %v\n%s", prefix, err, stripped)
		}
	}
}
