package guard

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TakesEffect returns a function that returns when the grace of a site's previous robots.txt ends for
// all crawlers, or the zero time if no grace runs. Use one function for many sites.
func (s *State) TakesEffect() func(policy.Key) time.Time {
	pending := s.Copies.Pending(time.Now())
	return func(key policy.Key) (at time.Time) {
		isOf := hostsOf(key)
		for host, t := range pending {
			if isOf(host) && t.After(at) {
				at = t
			}
		}
		return at
	}
}

// EndGrace ends the grace of previous versions of a site's robots.txt for all crawlers. Crawlers that
// still obey a previous version can be blocked from now on.
func (s *State) EndGrace(key policy.Key) { s.Copies.EndGrace(hostsOf(key), time.Now()) }

// hostsOf returns a predicate for the hosts whose files belong to a site. An authority without a port
// matches any port.
func hostsOf(key policy.Key) func(copies.Host) bool {
	name, port := addr.SplitPort(key.Host)
	number := site.PortOf(port)
	return func(h copies.Host) bool {
		if key.Source != "" {
			return h.Source == key.Source && h.ForwardedHost == key.ForwardedHost
		}
		return h.Source == "" && h.Secure == key.Secure && h.Name == name && h.ForwardedHost == key.ForwardedHost && (number == 0 || h.Port == number)
	}
}
