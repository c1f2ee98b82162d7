package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestAdminExplain requests the explanation of a verdict from a running server.
func TestAdminExplain(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	admin := harness.FreePort(t)
	s := harness.Serve(t, "http://a.test:$PORT {\n\trobots_guard enforce {\n\t\tonly_log Bingbot\n\t\trate {\n\t\t\tlimit search 30/1m\n\t\t}\n\t}\n\treverse_proxy "+strings.TrimPrefix(o.URL, "http://")+"\n}\n",
		"admin off", "admin 127.0.0.1:"+admin)
	ask := func(body string) (status int, answer map[string]any, text string) {
		t.Helper()
		response, err := http.Post("http://127.0.0.1:"+admin+"/robots_guard/explain", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		all, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(all)
		_ = json.Unmarshal([]byte(text), &answer) // an error is not JSON
		return response.StatusCode, answer, text
	}
	about := func(path, userAgent string) string {
		return `{"user_agent":"` + userAgent + `","url":"` + s.URL(path) + `"}`
	}
	var status int
	var answer map[string]any
	var text string
	harness.Eventually(t, "the guard has started", func() bool { // Caddy listens before that
		status, answer, text = ask(about("/x", harness.GPTBot))
		return status != http.StatusNotFound
	})
	if status != http.StatusOK || answer["verdict"] != "unknown" {
		t.Errorf("before the first request: %d %s", status, text)
	}
	harness.Eventually(t, "a crawler is blocked", func() bool { return harness.Get(t, s.URL("/x"), harness.GPTBot).Status == http.StatusForbidden })
	for _, tc := range []struct{ path, userAgent, verdict, action string }{
		{"/x", harness.GPTBot, "disallowed", "blocked"},
		{"/private/", harness.Bingbot, "disallowed", "logged"},
		{"/open", harness.Bingbot, "allowed", "none"},
		{"/x", harness.Firefox, "exempt", "none"},
	} {
		status, answer, text := ask(about(tc.path, tc.userAgent))
		handler, _ := answer["handler"].(map[string]any)
		if status != http.StatusOK || answer["verdict"] != tc.verdict || handler["action"] != tc.action || handler["site"] != "a.test" {
			t.Errorf("%s as %s: %d, want %s and %s\n%s", tc.path, tc.userAgent, status, tc.verdict, tc.action, text)
		}
	}
	_, _, text = ask(about("/open", harness.Bingbot))
	if !strings.Contains(text, `"limit": "search 30/1m"`) {
		t.Errorf("the response does not mention the limit: %s", text)
	}
	for url, want := range map[string]struct {
		status int
		error  string
	}{
		"/x":                  {http.StatusBadRequest, "has no host"},
		"http://other.test/x": {http.StatusNotFound, "no robots_guard is configured for"},
	} {
		if status, _, text := ask(`{"user_agent":"x","url":"` + url + `"}`); status != want.status || !strings.Contains(text, want.error) {
			t.Errorf("%s: %d %s; want %d with %q", url, status, text, want.status, want.error)
		}
	}
}
