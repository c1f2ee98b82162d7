package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestMappedPorts runs a server whose ports are mapped to the usual ports from outside,
// as in a container. The admin API is asked about the sites by the names that clients
// use. One site has different guards for http and https.
func TestMappedPorts(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	admin, clear, secure := "127.0.0.1:"+harness.FreePort(t), harness.FreePort(t), harness.FreePort(t)
	harness.Start(t, strings.NewReplacer("$ADMIN", admin, "$CLEAR", clear, "$SECURE", secure, "$ORIGIN", o.Address()).Replace(`{
	admin $ADMIN
	persist_config off
	skip_install_trust
	storage_clean_interval off
	local_certs
	http_port $CLEAR
	https_port $SECURE
}
http://a.test {
	robots_guard monitor
	reverse_proxy $ORIGIN
}
a.test, b.test {
	robots_guard enforce
	reverse_proxy $ORIGIN
}
a.test:`+harness.FreePort(t)+`, c.test:`+harness.FreePort(t)+` {
	robots_guard monitor
	reverse_proxy $ORIGIN
}
`), admin, "127.0.0.1:"+clear, "127.0.0.1:"+secure)
	refresh := func(authority string) (out, problem string, code int) {
		return harness.Command(t, "", "robots-guard", "status", "--address", admin, "--refresh", authority)
	}
	harness.Eventually(t, "the guard has started", func() bool { // Caddy listens before that
		_, _, code := refresh("b.test")
		return code != 2
	})
	for _, authority := range []string{"b.test", "https://a.test", "http://a.test", "a.test"} {
		if out, problem, code := refresh(authority); code != 0 {
			t.Errorf("--refresh %s: exit status %d: %s%s", authority, code, out, problem)
		}
	}
	for unknown, want := range map[string]string{"c.test": "there is no policy for", "http://b.test": "redirects to https://b.test;"} {
		if out, problem, code := refresh(unknown); code != 2 || !strings.Contains(problem, want) {
			t.Errorf("--refresh %s: exit status %d: %s%s", unknown, code, out, problem)
		}
	}
	for url, mode := range map[string]string{"https://a.test/x": "enforce", "http://a.test/x": "monitor", "https://b.test/x": "enforce"} {
		body := fmt.Sprintf(`{"user_agent": %q, "url": %q}`, harness.GPTBot, url)
		response, err := http.Post("http://"+admin+"/robots_guard/explain", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Robots  struct{ Name, Version string }
			Handler struct{ Mode string }
		}
		err = json.NewDecoder(response.Body).Decode(&answer)
		_ = response.Body.Close()
		if err != nil || answer.Handler.Mode != mode || answer.Robots.Version == "" {
			t.Errorf("%s: %+v, %v, want the mode %s", url, answer, err, mode)
		}
	}
}
