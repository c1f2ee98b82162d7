package rate

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Limit is how fast some clients may ask by the owner of a site, each by itself.
type Limit struct {
	Client   string // the product token or class, as it is configured
	Clients  judge.Selector
	Requests int           // how many there may be, 0 for as many as there are
	Per      time.Duration // in this time
	Rule     Rule          // the same as a mean, and how many may come at once
	// Concurrent is how many may be under way at once, 0 for as many as there are.
	Concurrent int
}

// String returns the limit as it is configured, such as "GPTBot 30/1m".
func (l *Limit) String() string {
	if l.Requests == 0 {
		return l.Broken(true)
	}
	return fmt.Sprintf("%s %d/%s", l.Client, l.Requests, text.Duration(l.Per))
}

// Name returns the product token that the limit names, "" if it names a class.
func (l *Limit) Name() string {
	if _, isClass := uaident.ParseClass(l.Client); isClass {
		return ""
	}
	return strings.TrimPrefix(l.Client, judge.MeantToken)
}

// Whole returns all that is configured but the burst, such as "GPTBot 30/1m concurrent 4".
func (l *Limit) Whole() string {
	if l.Requests == 0 || l.Concurrent == 0 {
		return l.String()
	}
	return fmt.Sprintf("%s concurrent %d", l, l.Concurrent)
}

// Broken returns what a request has broken of the limit as it is configured: where it
// has found no place, that is such as "GPTBot concurrent 4".
func (l *Limit) Broken(full bool) string {
	if full {
		return fmt.Sprintf("%s concurrent %d", l.Client, l.Concurrent)
	}
	return l.String()
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
