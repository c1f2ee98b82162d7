package judge

import (
	"fmt"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Settings are the options of a site for judging. The zero value has the defaults.
type Settings struct {
	// Enforce blocks disallowed requests. If false, they are only logged.
	Enforce bool
	// EnforceOnly limits Enforce to some clients. If EnforceOnly is empty, Enforce applies to all
	// clients. Other clients are treated as in monitor mode.
	EnforceOnly Selector
	// KeepSlashes compares paths without merging adjacent slashes.
	KeepSlashes bool
	// WildcardClasses are the classes under the * group. Zero means the default.
	WildcardClasses Classes
	// Exempt are clients exempt from the rules.
	Exempt ClientSet
	// OnlyLog are clients in the log, without blocks.
	OnlyLog ClientSet
	// SpoofedHandling is the treatment of spoofed clients.
	SpoofedHandling SpoofedHandling
	// ConfiguredNames are the product tokens in the options that the registry lacks, nil for none.
	// They also identify applications on a browser engine.
	ConfiguredNames *uaident.Overlay
}

// SetConfiguredNames sets ConfiguredNames from the lists of clients.
func (s *Settings) SetConfiguredNames(registry *uaident.Registry) {
	lists := []*Selector{&s.EnforceOnly, &s.Exempt.claimed, &s.Exempt.verified, &s.OnlyLog.claimed, &s.OnlyLog.verified}
	var names []string
	for _, list := range lists {
		names = append(names, list.UnregisteredTokens...)
	}
	s.ConfiguredNames = registry.NewOverlay(names).WithApplications()
}

// Identify identifies a client by the registry, by the additional names of a robots.txt and
// by the names in the settings.
func (s *Settings) Identify(registry *uaident.Registry, userAgent string, names *uaident.Overlay) uaident.Identity {
	client := registry.IdentifyWith(userAgent, names)
	if client.Class == uaident.Browser && s.ConfiguredNames != nil {
		client = registry.IdentifyWith(userAgent, s.ConfiguredNames)
	}
	return client
}

// SpoofedHandling is the treatment of requests of spoofed clients.
type SpoofedHandling uint8

const (
	// JudgeSpoofed applies the stricter of the group for the name and the * group.
	JudgeSpoofed SpoofedHandling = iota
	// BlockSpoofed blocks all requests except requests for /robots.txt.
	BlockSpoofed
	// LogSpoofed blocks no request.
	LogSpoofed
)

// WildcardApplies reports whether the * group applies to a client. An entry of the registry
// overrides the configured classes.
func (s *Settings) WildcardApplies(client uaident.Identity) bool {
	switch {
	case s.WildcardClasses == 0:
		return client.WildcardApplies()
	case client.Crawler != nil && client.Crawler.Wildcard != uaident.WildcardByClass:
		return client.Crawler.Wildcard == uaident.WildcardOn
	}
	return s.WildcardClasses.Has(client.Class)
}

// LogsOnly reports whether a client is logged and not blocked in enforce mode.
func (s *Settings) LogsOnly(client uaident.Identity, identity verify.State) bool {
	if identity == verify.Spoofed {
		return s.SpoofedHandling == LogSpoofed
	}
	return s.OnlyLog.Matches(client, identity)
}

// EnforceIncludes reports whether EnforceOnly includes a client. An empty EnforceOnly includes all
// clients.
func (s *Settings) EnforceIncludes(client uaident.Identity) bool {
	return s.EnforceOnly.IsEmpty() || s.EnforceOnly.Matches(client)
}

// ModeWord returns the mode of a site: "enforce", even if only for some clients, or "monitor".
func ModeWord(enforce bool) string {
	if enforce {
		return "enforce"
	}
	return "monitor"
}

// CheckEnforced returns an error for a name in enforce whose class is in exempt or only_log,
// because the client would never be blocked. It returns nil if registry is nil, because the classes
// are then unknown.
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
		}{{"exempt", "it is never judged", &s.Exempt}, {"only_log", "it is never blocked", &s.OnlyLog}} {
			if list.clients.claimed.classes.Has(c.Class) {
				return fmt.Errorf("%s is in enforce, but %s contains its class %s, so %s; remove one of the two", word, list.name, c.Class, list.effect)
			}
		}
	}
	return nil
}

// GracePeriod returns the time for which a client may obey a replaced version. configured is the
// configured time. If it is at least 24 hours (RFC 9309 section 2.4), a longer time documented by
// the crawler's operator takes precedence. A configured time below 24 hours always applies.
func GracePeriod(client uaident.Identity, configured time.Duration) time.Duration {
	if configured < policy.MaxAge {
		return configured
	}
	return max(configured, client.RobotsLag().Max)
}
