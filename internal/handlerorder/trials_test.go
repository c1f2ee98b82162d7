package handlerorder

import "testing"

// TestTriedAtHosts has a guard at some hosts and a robots_txt at others. A host with a wildcard or
// a placeholder may be any host.
func TestTriedAtHosts(t *testing.T) {
	for _, tc := range []struct {
		guard, text string
		tried       bool
	}{
		{"", "a.test", true},
		{"a.test", "", true},
		{"a.test", "A.test", true},
		{"a.test", "b.test", false},
		{"*.a.test", "b.a.test", true},
		{"*.a.test", "b.b.test", false},
		{"b.a.test", "*.a.test", true},
		{"*.*.test", "b.a.test", true},
		{"shop.*.test", "shop.a.test", true},
		{"shop.a.test", "shop.*.test", true},
		{"{env.HOST}", "a.test", true},
		{"a.test", "{env.HOST}", true},
	} {
		hosts := func(host string) (all []string) {
			if host != "" {
				all = append(all, host)
			}
			return all
		}
		guard := &PlacedHandler{Config: []byte("{}")}
		guard.Hosts = hosts(tc.guard)
		why := newTrialObstacles([]*PlacedHandler{guard}).obstacleForHosts(hosts(tc.text))
		if (why == "") != tc.tried {
			t.Errorf("a guard at %q, a text at %q: %q", tc.guard, tc.text, why)
		}
	}
}
