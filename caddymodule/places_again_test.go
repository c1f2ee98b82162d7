package caddymodule

import (
	"strings"
	"testing"
)

// Two guards to which the same requests come count these twice, which is told when the
// configuration is loaded or validated.
func TestGuardsAgain(t *testing.T) {
	const again = "a request that comes to both counts twice"
	for _, tc := range []struct{ name, config, want string }{
		{"for all and for a path", "a.test {\n robots_guard\n robots_guard /b/* enforce\n}", again},
		{"for all and for a path in handle", "a.test {\n robots_guard\n handle /b/* {\n robots_guard enforce\n }\n}", again},
		{"for a path and one below", "a.test {\n robots_guard /a/* enforce\n robots_guard /a/b/*\n}", again},
		{"around all sites", `{"apps": {"http": {"servers": {"s": {"routes": [
			{"handle": [{"handler": "robots_guard"}]},
			{"match": [{"host": ["a.test"]}], "handle": [{"handler": "robots_guard", "mode": "enforce"}]}]}}}}}`, again},
		{"around all sites, with a proxy for some requests", `{"apps": {"http": {"servers": {"s": {"routes": [
			{"handle": [{"handler": "robots_guard"}]},
			{"match": [{"path": ["/b/*"]}], "handle": [{"handler": "static_response"}]},
			{"match": [{"host": ["a.test"]}], "handle": [{"handler": "robots_guard", "mode": "enforce"}]}]}}}}}`, again},
		{"behind a proxy for all that the other is for", `{"apps": {"http": {"servers": {"s": {"routes": [
			{"match": [{"host": ["a.test"]}], "handle": [{"handler": "robots_guard", "mode": "enforce"}, {"handler": "reverse_proxy", "upstreams": [{"dial": "b:1"}]}]},
			{"handle": [{"handler": "robots_guard"}]}]}}}}}`, ""},
		{"behind an answer in route", "a.test {\n route {\n route /b/* {\n robots_guard enforce\n respond b\n }\n robots_guard\n respond a\n }\n}", ""},
		{"for a path and for the rest", "a.test {\n @rest not path /b/*\n robots_guard @rest\n robots_guard /b/* enforce\n}", ""},
		{"for two paths", "a.test {\n robots_guard /a/*\n robots_guard /b/* enforce\n}", ""},
		{"in two handles", "a.test {\n handle /a* {\n robots_guard\n }\n handle {\n robots_guard enforce\n }\n}", ""},
		{"at two sites", "a.test {\n robots_guard\n}\nb.test {\n robots_guard enforce\n}", ""},
		{"behind a decision for a path", "{\n servers {\n trusted_proxies static private_ranges\n trusted_proxies_strict\n }\n}\na.test {\n" +
			" robots_guard /ask {\n decide forwarded b.test\n source https://{host}/robots.txt\n }\n robots_guard\n}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, err := validate(t, tc.config)
			if err != nil {
				t.Fatal(err)
			}
			if warns := strings.Contains(log, again); warns != (tc.want != "") {
				t.Errorf("it is told: %t; the log:\n%s", warns, log)
			}
			if tc.want != "" && !strings.Contains(log, `"site":"site a.test"`) {
				t.Errorf("no site is named:\n%s", log)
			}
		})
	}
}
