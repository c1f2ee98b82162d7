package rate

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Limit is how fast some clients may ask by the owner of a site, each by itself.
type Limit struct {
	Client   string // the product token or class, as it is configured
	Clients  judge.Selector
	Requests int           // how many there may be
	Per      time.Duration // in this time
	Rule     Rule          // the same as a mean, and how many may come at once
}

// String returns the limit as it is configured, such as "GPTBot 30/1m".
func (l *Limit) String() string {
	return fmt.Sprintf("%s %d/%s", l.Client, l.Requests, shortDuration(l.Per))
}

// shortDuration writes a duration as people do: 1m and not 1m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// LimitOf returns the limit for a client: the first that names it, nil for none.
func (s *Settings) LimitOf(client uaident.Identity) *Limit {
	for i := range s.Limits {
		if s.Limits[i].Clients.Has(client) {
			return &s.Limits[i]
		}
	}
	return nil
}
