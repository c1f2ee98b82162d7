package rate

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Limit is a configured limit of a crawler or of a class. It applies separately to each client that
// it names.
type Limit struct {
	Client   string // Client is the configured product token or class.
	Clients  judge.Selector
	Requests int           // Requests is the maximum number of requests in the time Per, or 0 for no limit.
	Per      time.Duration // Per is the time for Requests.
	Rule     Rule          // Rule is the same limit as a mean interval, with the burst.
	// Concurrent is the maximum number of concurrent requests, 0 for no limit.
	Concurrent int
}

// String returns the limit without its burst, for example "GPTBot 30/1m". String includes the
// maximum of concurrent requests only for a limit without a rate, as in "GPTBot concurrent 4".
func (l *Limit) String() string {
	if l.Requests == 0 {
		return l.ExceededPart(true)
	}
	return fmt.Sprintf("%s %d/%s", l.Client, l.Requests, text.Duration(l.Per))
}

// ProductToken returns the product token that the limit names, or "" if the limit names a class.
func (l *Limit) ProductToken() string {
	if _, isClass := uaident.ParseClass(l.Client); isClass {
		return ""
	}
	return strings.TrimPrefix(l.Client, judge.TokenPrefix)
}

// StringWithConcurrent returns the limit with both maxima but without the burst, for example
// "GPTBot 30/1m concurrent 4".
func (l *Limit) StringWithConcurrent() string {
	if l.Requests == 0 || l.Concurrent == 0 {
		return l.String()
	}
	return fmt.Sprintf("%s concurrent %d", l, l.Concurrent)
}

// ExceededPart describes what a request exceeds. If full is true, this is the maximum of concurrent
// requests, as in "GPTBot concurrent 4". Otherwise it is [Limit.String].
func (l *Limit) ExceededPart(full bool) string {
	if full {
		return fmt.Sprintf("%s concurrent %d", l.Client, l.Concurrent)
	}
	return l.String()
}

// FirstLimitForClient returns the first configured limit that names a client or its class, or nil.
func (s *Settings) FirstLimitForClient(client uaident.Identity) *Limit {
	for i := range s.Limits {
		if s.Limits[i].Clients.Matches(client) {
			return &s.Limits[i]
		}
	}
	return nil
}
