package managed

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRolloutShadow evaluates a change without any effect on responses. The trial ends
// when a search engine requests a page that the change would newly disallow.
func TestRolloutShadow(t *testing.T) {
	t.Parallel()
	admin := harness.FreePort(t)
	config := `{
	admin 127.0.0.1:` + admin + `
	persist_config off
	auto_https off
	storage file_system ` + t.TempDir() + `
}
http://a.test:` + harness.FreePort(t) + ` {
	robots_guard enforce
	robots_txt {
		base none
		disallow GPTBot
		$MORE
	}
	respond "page {path}"
}
`
	_, port, _ := strings.Cut(config, "http://a.test:")
	port, _, _ = strings.Cut(port, " ")
	s := harness.Start(t, strings.Replace(config, "$MORE", "", 1), "127.0.0.1:"+port, "127.0.0.1:"+admin)
	s.Port = port
	harness.Eventually(t, "the first change is published", func() bool {
		return strings.Contains(harness.Get(t, s.URL("/robots.txt"), harness.Bingbot).Body, "GPTBot")
	})
	load := harness.Caddyfile(t, strings.Replace(config, "$MORE", "disallow bingbot CCBot {\n/shop/\n}\nrollout shadow 1h", 1))
	if _, problem, code := harness.Command(t, "", "reload", "--config", load, "--address", "127.0.0.1:"+admin); code != 0 {
		t.Fatalf("exit status %d: %s", code, problem)
	}
	// A request by bingbot ends the trial, also before it is shown. One by CCBot does not.
	harness.Eventually(t, "a request is compared", func() bool {
		if a := harness.Get(t, s.URL("/shop/1"), "CCBot/2.0"); a.Status != http.StatusOK {
			t.Fatalf("CCBot gets %d %s", a.Status, a.Body)
		}
		found := harness.Get(t, "http://127.0.0.1:"+admin+"/robots_guard/shadow", "test").Body
		return strings.Contains(found, `"from": "change `) && strings.Contains(found, `"path": "/shop/1"`)
	})
	if a := harness.Get(t, s.URL("/shop/1"), harness.Bingbot); a.Status != http.StatusOK {
		t.Errorf("bingbot gets %d %s", a.Status, a.Body)
	}
	if text := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot).Body; strings.Contains(text, "/shop/") {
		t.Errorf("the change is served: %s", text)
	}
	lines := s.Await("a trial has rejected a change of a robots_txt", 1)
	if why := lines[0]["why"]; why != "bingbot may not fetch /shop/1 any more, which it requested in the last 24 hours" {
		t.Errorf("logged %v", lines[0])
	}
	if a := harness.Get(t, s.URL("/shop/1"), harness.Bingbot); a.Status != http.StatusOK {
		t.Errorf("afterwards bingbot gets %d", a.Status)
	}
}

// TestRolloutShadowRefused rejects a trial that would evaluate no requests, because it
// would publish the change untested.
func TestRolloutShadowRefused(t *testing.T) {
	t.Parallel()
	const text = "robots_txt {\ndisallow GPTBot\nrollout shadow 1h\n}\n"
	for config, says := range map[string]string{
		"http://a.test {\nrobots_guard\n" + text + "}\n":                                                                   "",
		"http://a.test {\nrobots_guard /x*\n" + text + "}\n":                                                               "",
		"http://*.a.test {\nrobots_guard\n" + text + "}\n":                                                                 "",
		"http://a.test {\nroute {\n" + text + "robots_guard\n}\n}\n":                                                       "",
		"http://a.test, http://b.test {\nrobots_guard\n@b host b.test\n" + strings.Replace(text, " {", " @b {", 1) + "}\n": "",
		"http://a.test {\n" + text + "}\n":                                                                                 "rollout shadow: at site a.test a change would be published without a trial: no robots_guard judges the requests of this site; add one",
		"http://a.test {\n" + text + "}\nhttp://b.test {\nrobots_guard\n}\n":                                               "at site a.test a change would be published without a trial",
		"(m) {\n" + text + "}\nhttp://a.test {\nrobots_guard\nimport m\n}\nhttp://b.test {\nimport m\n}\n":                 "at site b.test a change would be published without a trial",
		"http://a.test {\nrobots_guard {\nshadow https://a.test/next.txt\n}\n" + text + "}\n":                              "already compares its option shadow; remove this option",
		"http://a.test {\nrobots_guard {\nsource https://a.test/r.txt\n}\n" + text + "}\n":                                 "reads its robots.txt from its option source; remove this option",
	} {
		_, stderr, code := harness.Command(t, "", "validate", "--config", harness.Caddyfile(t, config))
		if (code != 0) != (says != "") || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d, %s", config, code, stderr)
		}
	}
}
