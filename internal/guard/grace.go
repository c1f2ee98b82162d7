package guard

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TakesEffect returns a function that tells when the current robots.txt of a site will be the
// only one that counts for crawlers that were served no other, the zero time if it is already.
// It is for many sites at one time.
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

// EndGrace lets no earlier robots.txt of a site count any more, for any crawler. Crawlers that
// obey one of them are blocked by that.
func (s *State) EndGrace(key policy.Key) { s.Copies.EndGrace(hostsOf(key), time.Now()) }

// hostsOf tells by which hosts the files of a site are kept: without a port in its authority,
// by those at any port.
func hostsOf(key policy.Key) func(copies.Host) bool {
	name, port := addr.CutPort(key.Host)
	number := request.PortOf(port)
	return func(h copies.Host) bool {
		if key.Source != "" {
			return h.Source == key.Source && h.ForwardedHost == key.ForwardedHost
		}
		return h.Source == "" && h.Secure == key.Secure && h.Name == name && h.ForwardedHost == key.ForwardedHost && (number == 0 || h.Port == number)
	}
}
