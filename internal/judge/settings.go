package judge

import (
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Settings are the options of a site for judging. The zero value has the defaults.
type Settings struct {
	// Enforce blocks disallowed requests. If false, they are only logged.
	Enforce bool
	// EnforceOnly are the clients that Enforce applies to; if it is empty, all clients. The
	// others are judged as in monitor mode.
	EnforceOnly Selector
	// KeepSlashes compares paths without merging adjacent slashes.
	KeepSlashes bool
	// Wildcard are the classes that the * group applies to. Zero means the default.
	Wildcard Classes
	// Exempt are clients that are not judged.
	Exempt Clients
	// OnlyLog are clients that are logged and not blocked.
	OnlyLog Clients
	// FalseName is the treatment of spoofed clients.
	FalseName FalseName
	// Named are the product tokens that the options name and the registry does not know,
	// nil for none. They also identify applications on a browser engine.
	Named *uaident.Overlay
}

// NameClients sets Named from the lists of clients.
func (s *Settings) NameClients(registry *uaident.Registry) {
	lists := []*Selector{&s.EnforceOnly, &s.Exempt.claimed, &s.Exempt.verified, &s.OnlyLog.claimed, &s.OnlyLog.verified}
	var names []string
	for _, list := range lists {
		names = append(names, list.New...)
	}
	s.Named = registry.Overlay(names).WithApplications()
}

// Identify identifies a client by the registry, by the additional names of a robots.txt and
// by the names in the settings.
func (s *Settings) Identify(registry *uaident.Registry, userAgent string, names *uaident.Overlay) uaident.Identity {
	client := registry.IdentifyWith(userAgent, names)
	if client.Class == uaident.Browser && s.Named != nil {
		client = registry.IdentifyWith(userAgent, s.Named)
	}
	return client
}

// FalseName is the treatment of requests of spoofed clients.
type FalseName uint8

const (
	// JudgeFalseName judges by the stricter of the group that the name chooses
	// and the * group.
	JudgeFalseName FalseName = iota
	// BlockFalseName blocks all requests except those for /robots.txt.
	BlockFalseName
	// LogFalseName blocks no request.
	LogFalseName
)

// WildcardApplies reports whether the * group applies to a client. An entry of the registry
// overrides the configured classes.
func (s *Settings) WildcardApplies(client uaident.Identity) bool {
	switch {
	case s.Wildcard == 0:
		return client.Wildcard()
	case client.Crawler != nil && client.Crawler.Wildcard != uaident.WildcardByClass:
		return client.Crawler.Wildcard == uaident.WildcardOn
	}
	return s.Wildcard.Has(client.Class)
}

// LogsOnly reports whether a client is logged and not blocked in enforce mode.
func (s *Settings) LogsOnly(client uaident.Identity, identity verify.State) bool {
	if identity == verify.Spoofed {
		return s.FalseName == LogFalseName
	}
	return s.OnlyLog.Has(client, identity)
}

// EnforceIncludes reports whether EnforceOnly includes a client. If it is empty, it includes
// all clients.
func (s *Settings) EnforceIncludes(client uaident.Identity) bool {
	return s.EnforceOnly.IsEmpty() || s.EnforceOnly.Has(client)
}

// ModeOf returns the mode of a site: "enforce", also if it enforces only for some clients, or
// "monitor".
func ModeOf(enforce bool) string {
	if enforce {
		return "enforce"
	}
	return "monitor"
}
