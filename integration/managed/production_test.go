package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestStagingOfProduction checks that caddy validate and the server reject a
// configuration that would close a production host. They accept one for other hosts of
// the domain.
func TestStagingOfProduction(t *testing.T) {
	t.Parallel()
	const says = "staging would close www.a.test to all crawlers"
	for staging, refused := range map[string]bool{
		"http://www.a.test staging":                                            true,
		"http://staging.a.test, http://www.a.test staging":                     true,
		"http://*.a.test staging":                                              true,
		"http:// staging":                                                      true,
		"http://*.a.test staging staging.a.test":                               false,
		"http://staging.a.test staging":                                        false,
		"http://staging.a.test staging *.a.test":                               false,
		"http://staging.a.test, http://www.a.test max_age 2h\ndisallow GPTBot": false,
	} {
		cut := strings.LastIndex(staging, "http")
		site, option, _ := strings.Cut(staging[cut:], " ")
		file := harness.Caddyfile(t, "{\nrobots_guard {\nproduction www.a.test\n}\n}\n"+staging[:cut]+site+" {\nrobots_txt {\n"+option+"\n}\n}\n")
		_, stderr, code := harness.Command(t, "", "validate", "--config", file)
		if (code != 0) != refused || strings.Contains(stderr, says) != refused {
			t.Errorf("%s: exit %d, %s", staging, code, stderr)
		}
	}
}
