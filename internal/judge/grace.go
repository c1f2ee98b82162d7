package judge

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Grace returns how long a client may follow a text that was replaced: what the owner
// gives to all, and where that is no less than the 24 hours of RFC 9309 section 2.4, as
// long as the crawler's operator says that it takes. An owner who gives less means it.
func Grace(client uaident.Identity, all time.Duration) time.Duration {
	if all < policy.MaxAge {
		return all
	}
	return max(all, client.RobotsLag().Most)
}
