package caddymodule

import (
	"context"

	"github.com/robotsguard/caddy-robots-guard/caddymodule/crawlers"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Verify says how claims to be a crawler are verified. Nothing is looked up
// while a request waits.
type Verify struct {
	// Which lists of addresses are read: `official` reads those that operators
	// publish and those of the configuration, `configured` the latter alone,
	// `off` none. Default: `official`.
	Ranges string `json:"ranges,omitempty"`

	// Leave the names of addresses alone. By default the address of a client
	// that claims to be a crawler is looked up in the DNS, and the name that it
	// has there, too.
	NoRDNS bool `json:"no_rdns,omitempty"`

	// The DNS server to ask, as `address` or `address:port`. Default: that of
	// the system.
	Resolver string `json:"resolver,omitempty"`

	// Verify the signatures of requests (Web Bot Auth). Experimental: the
	// protocol may change. A signature can verify a claim, and proves nothing
	// if it fails.
	WebBotAuth bool `json:"web_bot_auth,omitempty"`
}

// The words of Verify.Ranges.
const (
	rangesOfficial   = "official"
	rangesConfigured = "configured"
	rangesOff        = "off"
)

var rangesWords = []string{rangesOfficial, rangesConfigured, rangesOff}

// config returns what a verifier has to know of the configuration and of crawlers.
func (a *App) config(registry *uaident.Registry) verify.Config {
	if a.Verify == nil {
		return verify.Config{}
	}
	c := verify.Config{
		Crawlers:   registry.Crawlers(),
		Ranges:     a.Verify.Ranges == "" || a.Verify.Ranges == rangesOfficial,
		ReverseDNS: !a.Verify.NoRDNS,
		DNSServer:  a.Verify.Resolver,
	}
	for _, crawler := range a.Crawlers {
		if a.Verify.Ranges != rangesOff {
			for _, list := range crawler.Ranges {
				c.Lists = append(c.Lists, verify.List{For: crawler.Token, File: list.File, URL: list.URL})
			}
		}
		if !a.Verify.NoRDNS {
			for _, domain := range crawler.RDNS {
				c.Domains = append(c.Domains, verify.Domain{For: crawler.Token, Suffix: domain})
			}
		}
	}
	return c
}

// Verifies reports whether it can be told of anybody that he is who he says.
func (a *App) Verifies() bool {
	c := a.config(a.known.Load())
	return c.Confirms() || a.Verify != nil && a.Verify.WebBotAuth
}

// Published returns the address ranges of some operators, nil if no lists are read.
func (a *App) Published(operators ...string) *verify.Published {
	if a.Verify == nil || a.Verify.Ranges == rangesOff {
		return nil
	}
	a.verified = true
	return a.state.Identities.Verifier.Published(operators...)
}

// checkLists reads the lists of addresses that are files, so that one that cannot
// be used fails before anything has changed.
func (a *App) checkLists() error {
	v := verify.New(verify.Options{KeepVerified: 1, KeepOthers: 1})
	defer v.Close()
	return crawlers.AtRanges(a.Crawlers, v.Configure(a.config(a.known.Load())))
}

// useSignatures has the signatures of the agents of a registry count from now on.
func (a *App) useSignatures(registry *uaident.Registry) error {
	if a.Verify == nil || !a.Verify.WebBotAuth {
		return nil
	}
	ctx, end := context.WithCancel(a.ctx)
	signatures, err := a.state.Identities.UseSignatures(ctx, registry, a.logger, a.state.Metrics.ReadDirectory)
	if err != nil {
		end()
		return err
	}
	a.identity.Signatures.Store(signatures)
	if a.unsign != nil {
		a.unsign()
	}
	a.unsign = end
	return nil
}

// adopt prepares for another registry, which then takes the place of the one in use.
func (a *App) adopt(registry *uaident.Registry) error {
	if _, err := identity.AgentsOf(registry); err != nil || a.Verify == nil {
		return err
	}
	before := a.unverify
	after, err := a.state.Identities.Use(a.config(registry))
	if err != nil {
		return err
	}
	a.unverify = after
	if err := before(); err != nil {
		return err
	}
	return a.useSignatures(registry)
}

// tell tells Caddy's events app what happens to the registry.
func (a *App) tell(name string, data map[string]any) {
	if events, err := guard.NewEvents(a.ctx, a.logger); err == nil {
		events.Send(name, data)
	}
}
