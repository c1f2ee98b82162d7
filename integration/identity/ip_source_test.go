package identity

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestIPSource trusts only the addresses of an operator's list as proxies.
func TestIPSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	harness.Write(t, filepath.Join(dir, "own"), "127.0.0.0/8\n::1\n")
	harness.Write(t, filepath.Join(dir, "other"), "192.0.2.0/24\n")
	options := func(list, operators string) string {
		return "robots_guard {\n verify {\n  ranges configured\n  rdns off\n }\n crawler AcmeBot {\n  operator Acme\n  ranges file " + filepath.Join(dir, list) + "\n }\n}\n" +
			"servers {\n trusted_proxies robots_guard " + operators + "\n}"
	}
	const site = "http://a.test:$PORT {\n respond {client_ip}\n}"
	for list, want := range map[string]string{"own": "198.51.100.7", "other": "127.0.0.1"} {
		s := harness.Serve(t, site, "$GLOBAL", options(list, "acme Google"))
		// Caddy starts its apps in any order, so the lists may be loaded after the
		// server has started.
		harness.Eventually(t, "by the list "+list+" the client is "+want, func() bool {
			return harness.Get(t, s.URL("/"), harness.Googlebot, from("198.51.100.7")).Body == want
		})
	}
	for _, test := range []struct{ name, options, want string }{
		{"misspelt", options("own", "Acmee"), `unknown operator "Acmee"; did you mean Acme?, at `},
		{"a crawler", options("own", "Googlebot"), "did you mean Google, the operator of Googlebot?, at "},
		{"without an operator", options("own", ""), "needs the name of an operator"},
		{"without verify", "servers {\n trusted_proxies robots_guard Google\n}", `add "verify on" to robots_guard`},
	} {
		config, _, _ := harness.Configure(t, site, "$GLOBAL", test.options)
		if _, output, code := harness.Command(t, "", "validate", "--config", harness.Caddyfile(t, config)); code == 0 || !strings.Contains(strings.ReplaceAll(output, `\"`, `"`), test.want) {
			t.Errorf("%s: exit status %d, %s, want %s", test.name, code, output, test.want)
		}
	}
}
