package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestStagingOfNobody checks that validation rejects staging hosts that the site does
// not have, because the actual staging hosts would stay open.
func TestStagingOfNobody(t *testing.T) {
	t.Parallel()
	for config, says := range map[string]string{ // "" for no message
		"http://www.a.test {\nrobots_txt {\nstaging staging.a.test\n}\n}":                                           `staging: this site has no host \"staging.a.test\"; it has www.a.test`,
		"http://stagin.a.test {\nrobots_txt {\nstaging staging.a.test\n}\n}":                                        "did you mean stagin.a.test?",
		"http://staging.a.test, http://www.a.test {\nrobots_txt {\nstaging staging.a.test *.b.test\n}\n}":           `staging: this site has no host \"*.b.test\"; it has staging.a.test, www.a.test`,
		"http://staging.a.test, http://www.a.test {\nrobots_txt {\nstaging staging.a.test\n}\n}":                    "",
		"http://staging.a.test {\nrobots_txt {\nstaging *.a.test\n}\n}":                                             "",
		"http://*.a.test {\nrobots_txt {\nstaging staging.a.test\n}\n}":                                             "",
		"http:// {\nrobots_txt {\nstaging staging.a.test\n}\n}":                                                     "",
		"(s) {\nrobots_txt {\nstaging s.a.test\n}\n}\nhttp://a.test {\nimport s\n}\nhttp://s.a.test {\nimport s\n}": "",
	} {
		_, stderr, code := harness.Command(t, "", "validate", "--config", harness.Caddyfile(t, config+"\n"))
		if (code != 0) != (says != "") || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d, %s", config, code, stderr)
		}
	}
}
