package readers

import (
	"net/netip"
	"slices"
	"time"
)

// Bounds of the redirects that are remembered of a site, and for how long: a client
// follows one at once.
const (
	maxLed      = 16
	maxLedPlace = 1024 // bytes
	ledLasts    = time.Minute
)

// led is where a client was redirected to for the file.
type led struct {
	network netip.Prefix
	place   string
	at      time.Time
}

// Led notes where a client was redirected to for the file, by its network.
func (s *SiteTexts) Led(network netip.Prefix, place string, now time.Time) {
	if place == "" || len(place) > maxLedPlace {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.led = slices.DeleteFunc(s.led, func(l led) bool {
		return now.Sub(l.at) >= ledLasts || l.network == network && l.place == place
	})
	s.led = append(s.led[max(0, len(s.led)+1-maxLed):], led{network, place, now})
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
