package judge

import (
	"fmt"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Settings are the options of a site that affect the judgement. The zero value has the defaults.
type Settings struct {
	// Enforce is true if disallowed requests are blocked, and false if they are only logged.
	Enforce bool
	// EnforceOnly selects the clients for which Enforce applies. Disallowed requests of other
	// clients are only logged. An empty EnforceOnly means all clients.
	EnforceOnly Selector
	// KeepSlashes is true if adjacent slashes in a path are not merged before rules are compared.
	KeepSlashes bool
	// WildcardClasses are the classes of clients to which the * group applies. Zero means the
	// default.
	WildcardClasses ClassSet
	// Exempt has the clients to which no rule applies.
	Exempt ClientSet
	// OnlyLog has the clients that are never blocked, only logged.
	OnlyLog ClientSet
	// SpoofedHandling says what happens to requests of spoofed clients.
	SpoofedHandling SpoofedHandling
	// ConfiguredNames are the product tokens in the options that the registry lacks, nil for none.
	// They also identify applications whose User-Agent looks like a browser's.
	ConfiguredNames *uaident.Overlay
}

// SetConfiguredNames sets ConfiguredNames to the unregistered tokens in the other settings.
func (s *Settings) SetConfiguredNames(registry *uaident.Registry) {
	lists := []*Selector{&s.EnforceOnly, &s.Exempt.claimed, &s.Exempt.verified, &s.OnlyLog.claimed, &s.OnlyLog.verified}
	var names []string
	for _, list := range lists {
		names = append(names, list.UnregisteredTokens...)
	}
	s.ConfiguredNames = registry.NewOverlay(names).WithApplications()
}

// Identify identifies a client by the registry and by names, the additional names of a robots.txt,
// which may be nil. A client that looks like a browser is also identified by ConfiguredNames.
func (s *Settings) Identify(registry *uaident.Registry, userAgent string, names *uaident.Overlay) uaident.Identity {
	return s.IdentifyWithLazyNames(registry, userAgent, func() *uaident.Overlay { return names })
}

// IdentifyWithLazyNames is Identify with a function that returns the names. It does not call the
// function for a User-Agent that is a browser's whatever the names are. If the result is not a
// browser, the function was called.
func (s *Settings) IdentifyWithLazyNames(registry *uaident.Registry, userAgent string, names func() *uaident.Overlay) uaident.Identity {
	client := registry.IdentifyWithLazyOverlay(userAgent, names)
	if client.Class == uaident.Browser && s.ConfiguredNames != nil {
		client = registry.IdentifyWithOverlay(userAgent, s.ConfiguredNames)
	}
	return client
}

// SpoofedHandling says what happens to requests of spoofed clients.
type SpoofedHandling uint8

const (
	// JudgeSpoofed applies the stricter of the group for the name and the * group.
	JudgeSpoofed SpoofedHandling = iota
	// BlockSpoofed blocks all requests except ACME challenges and requests for robots.txt or the
	// targets of its redirects.
	BlockSpoofed
	// LogSpoofed blocks no request.
	LogSpoofed
)

// WildcardApplies reports whether the * group applies to a client, by the class of the client. The
// registry may say otherwise for a crawler, which overrides WildcardClasses.
func (s *Settings) WildcardApplies(client uaident.Identity) bool {
	switch {
	case s.WildcardClasses == 0:
		return client.WildcardApplies()
	case client.Crawler != nil && client.Crawler.Wildcard != uaident.WildcardByClass:
		return client.Crawler.Wildcard == uaident.WildcardOn
	}
	return s.WildcardClasses.Has(client.Class)
}

// LogsOnly reports whether disallowed requests of a client are only logged, even in enforce mode,
// by OnlyLog or SpoofedHandling.
func (s *Settings) LogsOnly(client uaident.Identity, identity verify.State) bool {
	if identity == verify.Spoofed {
		return s.SpoofedHandling == LogSpoofed
	}
	return s.OnlyLog.Matches(client, identity)
}

// EnforceIncludes reports whether Enforce applies to a client, by EnforceOnly.
func (s *Settings) EnforceIncludes(client uaident.Identity) bool {
	return s.EnforceOnly.IsEmpty() || s.EnforceOnly.Matches(client)
}

// ModeWord returns the name of the mode: "enforce" if enforce is true, else "monitor".
func ModeWord(enforce bool) string {
	if enforce {
		return "enforce"
	}
	return "monitor"
}

// CheckEnforced returns an error if a crawler listed in enforce has a class listed in exempt or
// only_log, because the crawler would never be blocked. CheckEnforced returns nil if registry is
// nil, because the classes are then unknown.
func (s *Settings) CheckEnforced(registry *uaident.Registry, enforced []string) error {
	if registry == nil {
		return nil
	}
	for _, word := range enforced {
		c := LookupCrawler(registry, word)
		if c == nil {
			continue
		}
		for _, list := range []struct {
			name, effect string
			clients      *ClientSet
		}{{"exempt", "the crawler is never judged", &s.Exempt}, {"only_log", "the crawler is never blocked", &s.OnlyLog}} {
			if list.clients.claimed.classes.Has(c.Class) {
				return fmt.Errorf("%s is in enforce, but %s contains its class %s, so %s; remove one of the two", word, list.name, c.Class, list.effect)
			}
		}
	}
	return nil
}

// GracePeriod returns the time for which a client may obey a replaced version. configured is the
// option grace. If it is at least 24 hours (RFC 9309 section 2.4), a longer time documented by the
// crawler's operator replaces it.
func GracePeriod(client uaident.Identity, configured time.Duration) time.Duration {
	if configured < policy.MaxAge {
		return configured
	}
	return max(configured, client.RobotsLag().Max)
}
