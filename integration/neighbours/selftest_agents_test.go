package neighbours

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	guardsite "github.com/robotsguard/caddy-robots-guard/internal/site"
)

// TestSelfTestUserAgents compares the User-Agents in harness with those of the
// self-test.
func TestSelfTestUserAgents(t *testing.T) {
	if want := [...]string{guardsite.SelfTestBrowser, guardsite.SelfTestCrawler}; harness.SelfTestUserAgents != want {
		t.Errorf("harness has %q, the self-test sends %q", harness.SelfTestUserAgents, want)
	}
}
