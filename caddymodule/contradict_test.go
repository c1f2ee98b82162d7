package caddymodule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContradictionByRegistry loads sites whose options contradict each other because of a class in
// a registry. A registry can change without the owner, so the server starts with a warning.
func TestContradictionByRegistry(t *testing.T) {
	registry := filepath.Join(t.TempDir(), "registry.json")
	text := `{"crawlers": [{"token": "FooBot", "operator": "Foo", "class": "seo", "source": "https://foo.example/bot"}]}`
	if err := os.WriteFile(registry, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ block, says string }{
		"enforced": {"robots_guard enforce FooBot {\n exempt seo\n}", "FooBot is in enforce, but exempt contains its class seo"},
		"a limit":  {"robots_guard {\n exempt seo\n rate {\n limit FooBot 3/1m\n }\n}", "because its class seo is in exempt"},
		"neither":  {"robots_guard enforce FooBot {\n exempt search\n}", ""},
	} {
		for own, global := range map[bool]string{false: "registry " + registry, true: "crawler FooBot {\n class seo\n }"} {
			log, err := validate(t, "{\n robots_guard {\n "+global+"\n }\n}\na.test {\n "+tc.block+"\n}")
			switch {
			case own && tc.says != "":
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: %v", name, err)
				}
			case err != nil:
				t.Errorf("%s, own %t: %v", name, own, err)
			case strings.Contains(log, "options contradict each other") != (tc.says != "") || !strings.Contains(log, tc.says):
				t.Errorf("%s, own %t: %s", name, own, log)
			}
		}
	}
}
