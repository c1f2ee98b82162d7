package command

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWhatIsNoRobots rejects files that restrict nothing by mistake.
func TestWhatIsNoRobots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"portal.html": "<!DOCTYPE html>\n<html><head><title>Log in</title></head></html>\n", "robots.txt": "User-agent: *\nDisallow: /x\n",
		"utf16": "\xff\xfeU\x00s\x00e\x00r\x00", "cases": "x / allow\n",
		"access.log": "192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"GPTBot/1.2\"\n", "comment.txt": "# open: to all\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct {
		args   []string
		failed bool
		says   string
	}{
		{[]string{"explain", "--brief", "--robots", in("utf16"), "/"}, true, "utf16 is UTF-16, which no crawler can read; save the file as UTF-8"},
		{[]string{"test", "--robots", in("utf16"), in("cases")}, true, "utf16 is UTF-16"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "private/"}, true, `"private/" is neither a URL such as https://example.com/page nor a path that begins with /`},
		{[]string{"explain", "--brief", "--robots", in("cases"), "localhost:8080/private/"}, true, "is neither a URL"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "http://[::1]:8080/private/"}, false, "allowed"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "https:///private/"}, true, "is neither a URL"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "https:/example.com/private/"}, true, "is neither a URL"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "HTTPS://example.com/%zz?[\x01"}, false, "allowed"},
		{[]string{"explain", "--brief", "example.com/private/"}, true, "is neither a URL"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "--token", "GPTBot/1.2", "/"}, true, `--token "GPTBot/1.2" is not a product token, for example GPTBot; use --user-agent for a whole User-Agent`},
		{[]string{"explain", "--brief", "--robots", in("cases"), "--token", "GPTBot,bingbot", "/"}, true, `--token "GPTBot,bingbot" is not a product token`},
		{[]string{"explain", "--brief", "--robots", in("cases"), "--token", "Mozilla/5.0 (compatible; bingbot/2.0)", "/"}, true, "is not a product token"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "--token", "*", "/"}, false, "allowed"},
		{[]string{"explain", "--robots", in("cases"), "--token", "GPTBot/1.2", "/"}, true, "is not a product token"},
		{[]string{"explain", "--brief", "--robots", in("cases"), "/"}, false, "cases has no line of a robots.txt, so it allows everything; give a robots.txt"},
		{[]string{"explain", "--brief", "--robots", in("access.log"), "/"}, false, "access.log has no line of a robots.txt"},
		{[]string{"explain", "--brief", "--robots", in("comment.txt"), "/"}, false, "VERDICT  URL  LINE  RULE  GROUP\nallowed  /    -     -     -\n"},
		{[]string{"status", "--address", "http://localhost:2019/"}, true, `--address "http://localhost:2019/" is not an address, for example localhost:2019`},
		{[]string{"explain", "--robots", in("cases"), "--token", "GPTBot", "example.com"}, true, `"example.com" is neither a URL`},
		{[]string{"diff", in("portal.html"), in("robots.txt")}, true, "portal.html is a web page, not a robots.txt; give the URL or the file of the robots.txt"},
		{[]string{"diff", in("robots.txt"), in("portal.html")}, true, "portal.html is a web page"},
		{[]string{"diff", in("robots.txt"), in("utf16")}, true, "utf16 is UTF-16"},
		{[]string{"diff", "--fail-on", "never", in("access.log"), in("robots.txt")}, false, "access.log has no line of a robots.txt"},
		{[]string{"explain", "--robots", in("portal.html"), "--token", "GPTBot", "/"}, true, "portal.html is a web page"},
		{[]string{"explain", "--robots", in("access.log"), "--token", "GPTBot", "/"}, false, "access.log has no line of a robots.txt"},
		{[]string{"audit", "--robots", in("portal.html"), in("access.log")}, true, "portal.html is a web page"},
		{[]string{"registry", "diff", in("nowhere.json")}, true, "nowhere.json not found; check the name"},
	} {
		if output, err := execute(t.Context(), Config{}, tc.args...); (err != nil) != tc.failed || !strings.Contains(output, tc.says) {
			t.Errorf("%q: %v, %.300q", tc.args, err, output)
		}
	}
}

// TestWhyAURLCannotBeRead checks the errors of fetches.
func TestWhyAURLCannotBeRead(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(slow.Close)
	for url, says := range map[string]string{
		slow.URL + "/robots.txt":        "time-out: no answer in time",
		"HTTP://127.0.0.1:1/robots.txt": "connection refused: nothing listens at that address",
	} {
		output, err := execute(t.Context(), Config{FetchTimeout: 50 * time.Millisecond}, "explain", "--brief", "--robots", url, "/")
		if want := "cannot read " + strings.Replace(url, "HTTP", "http", 1) + ": " + says; err == nil || !strings.Contains(output, want) {
			t.Errorf("%v, %q, want %q", err, output, want)
		}
	}
}
