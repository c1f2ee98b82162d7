package guard

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestNamedByALongerName checks that the group of a crawler does not apply to an app
// whose name is a prefix of the crawler's name.
func TestNamedByALongerName(t *testing.T) {
	state := &policy.State{Current: &policy.Version{Robots: policy.Parse([]byte("User-agent: Gold Crawler\nDisallow: /\n"))}}
	for userAgent, want := range map[string]bool{"Gold/120.1 (iPhone; iOS 17.0)": false, "Gold Crawler/1.0": true} {
		client := uaident.Default().IdentifyWithOverlay(userAgent, uaident.Default().NewOverlay(state.Current.Robots.GroupNames()))
		if got := robotsNamesClient(client, state.Current.Robots); got != want {
			t.Errorf("%s: %v", userAgent, got)
		}
	}
}
