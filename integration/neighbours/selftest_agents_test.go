package neighbours

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
)

// TestSelfTestUserAgents holds the User-Agents that origins of tests know to those of the
// self-test.
func TestSelfTestUserAgents(t *testing.T) {
	if want := [...]string{origin.SelfTestBrowser, origin.SelfTestCrawler}; harness.SelfTestUserAgents != want {
		t.Errorf("harness knows %q, the self-test sends %q", harness.SelfTestUserAgents, want)
	}
}
