package caddymodule

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/command"
)

// TestRobotsOfASite fetches the robots.txt of a site, and rejects a web page in its place.
func TestRobotsOfASite(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private\n")
		default:
			_, _ = io.WriteString(w, "<!DOCTYPE html>\n<title>Home</title>\n")
		}
	}))
	defer site.Close()
	page := filepath.Join(t.TempDir(), "page.html")
	cases := filepath.Join(t.TempDir(), "cases.txt")
	for name, text := range map[string]string{page: "<!DOCTYPE html>\n<title>Home</title>\n", cases: "GPTBot /private disallow\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		args []string
		want int
	}{
		{"a site", []string{"explain", "--brief", "--robots", site.URL, "--token", "GPTBot", "/private"}, command.ExitFindings},
		{"a site with a slash", []string{"explain", "--brief", "--robots", site.URL + "/", "--token", "GPTBot", "/public"}, command.ExitOK},
		{"the URL's own site", []string{"explain", "--brief", "--token", "GPTBot", site.URL + "/private"}, command.ExitFindings},
		{"a page of a site", []string{"explain", "--brief", "--robots", site.URL + "/index.html", "--token", "GPTBot", "/private"}, command.ExitFailed},
		{"a page in a file", []string{"explain", "--brief", "--robots", page, "--token", "GPTBot", "/private"}, command.ExitFailed},
		{"no server", []string{"explain", "--brief", "--robots", "http://127.0.0.1:1/", "--token", "GPTBot", "/private"}, command.ExitFailed},
		{"no file", []string{"explain", "--brief", "--robots", page + ".txt", "--token", "GPTBot", "/private"}, command.ExitFailed},
		{"test, of a site", []string{"test", "--robots", site.URL, cases}, command.ExitOK},
		{"test, of a page", []string{"test", "--robots", page, cases}, command.ExitFailed},
		{"explain, of a site", []string{"explain", "--robots", site.URL, "--user-agent", "GPTBot/1.3", "/private"}, command.ExitFindings},
	} {
		if output, code := runRobotsGuard(t, "", tc.args...); code != tc.want {
			t.Errorf("%s: exit status %d, want %d\n%s", tc.name, code, tc.want, output)
		}
	}
}
