package judge

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// GracePeriod returns the time for which a client may obey a replaced version. all is the
// configured time. If it is at least 24 hours (RFC 9309 section 2.4), a longer time that the
// crawler's operator documents takes precedence. A shorter configured time always applies.
func GracePeriod(client uaident.Identity, configured time.Duration) time.Duration {
	if configured < policy.MaxAge {
		return configured
	}
	return max(configured, client.RobotsLag().Max)
}
