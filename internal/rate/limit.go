package rate

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Limit is a configured limit for each of some clients.
type Limit struct {
	Client   string // configured product token or class
	Clients  judge.Selector
	Requests int           // maximum number in Per, 0 for no limit
	Per      time.Duration // time for Requests
	Rule     Rule          // the same as a mean interval, with the burst
	// Concurrent is the maximum number of concurrent requests, 0 for no limit.
	Concurrent int
}

// String returns the limit as configured, for example "GPTBot 30/1m".
func (l *Limit) String() string {
	if l.Requests == 0 {
		return l.ExceededPart(true)
	}
	return fmt.Sprintf("%s %d/%s", l.Client, l.Requests, text.Duration(l.Per))
}

// Name returns the product token of the limit, or "" for a class.
func (l *Limit) Name() string {
	if _, isClass := uaident.ParseClass(l.Client); isClass {
		return ""
	}
	return strings.TrimPrefix(l.Client, judge.TokenPrefix)
}

// StringWithConcurrent returns the whole limit without the burst, for example "GPTBot 30/1m
// concurrent 4".
func (l *Limit) StringWithConcurrent() string {
	if l.Requests == 0 || l.Concurrent == 0 {
		return l.String()
	}
	return fmt.Sprintf("%s concurrent %d", l, l.Concurrent)
}

// ExceededPart returns the exceeded part of the limit for a request. If full, the request exceeds
// the concurrent requests, as in "GPTBot concurrent 4".
func (l *Limit) ExceededPart(full bool) string {
	if full {
		return fmt.Sprintf("%s concurrent %d", l.Client, l.Concurrent)
	}
	return l.String()
}

// LimitFor returns the first limit for a client, or nil.
func (s *Settings) LimitFor(client uaident.Identity) *Limit {
	for i := range s.Limits {
		if s.Limits[i].Clients.Matches(client) {
			return &s.Limits[i]
		}
	}
	return nil
}
