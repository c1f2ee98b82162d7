package judge

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Grace returns the time for which a client may obey a replaced version. all is the
// configured time. If it is at least 24 hours (RFC 9309 section 2.4), a longer time that the
// crawler's operator documents takes precedence. A shorter configured time always applies.
func Grace(client uaident.Identity, all time.Duration) time.Duration {
	if all < policy.MaxAge {
		return all
	}
	return max(all, client.RobotsLag().Most)
}
