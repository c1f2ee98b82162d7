package readers

import (
	"net/netip"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of the redirects that are remembered of a site, and for how long: a client
// follows one at once.
const (
	maxLed      = 16
	maxLedOut   = 64   // by all sites, to other hosts
	maxLedPlace = 1024 // bytes
	ledLasts    = time.Minute
)

// led is where a client was redirected to for the file.
type led struct {
	network netip.Prefix
	place   string
	at      time.Time
}

// Led notes where a client was redirected to for the file of a site, by its network.
func (s *Texts) Led(of policy.Key, network netip.Prefix, place string, now time.Time) {
	if place == "" || len(place) > maxLedPlace {
		return
	}
	s.ledLast.Store(now.UnixNano())
	site := s.Site(of)
	site.mu.Lock()
	defer site.mu.Unlock()
	site.led = withLed(site.led, maxLed, led{network, place, now})
}

// withLed adds to the redirects that are remembered, of which there are so many at most.
func withLed(all []led, most int, last led) []led {
	all = slices.DeleteFunc(all, func(l led) bool {
		return last.at.Sub(l.at) >= ledLasts || l.network == last.network && l.place == last.place
	})
	return append(all[max(0, len(all)+1-most):], last)
}

// LedAbroad notes to which URL of another host a client was redirected for the file.
func (s *Texts) LedAbroad(network netip.Prefix, place string, now time.Time) {
	if place == "" || len(place) > maxLedPlace {
		return
	}
	s.ledLast.Store(now.UnixNano())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abroad = withLed(s.abroad, maxLedOut, led{network, place, now})
}

// Leads reports whether any client was redirected for the file of any site a moment ago,
// which takes no lock: mostly none was.
func (s *Texts) Leads(now time.Time) bool {
	last := s.ledLast.Load()
	return last != 0 && now.UnixNano()-last < int64(ledLasts)
}

// WasLedAbroad reports whether a client of a network was redirected to a URL of another
// host a moment ago.
func (s *Texts) WasLedAbroad(network netip.Prefix, place string, now time.Time) bool {
	if !s.Leads(now) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.abroad, func(l led) bool {
		return l.network == network && l.place == place && now.Sub(l.at) < ledLasts
	})
}

// WasLed reports whether a client of a network was redirected to a place a moment ago,
// after since.
func (s *SiteTexts) WasLed(network netip.Prefix, place string, since, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.led, func(l led) bool {
		return l.network == network && l.place == place && l.at.After(since) && now.Sub(l.at) < ledLasts
	})
}
