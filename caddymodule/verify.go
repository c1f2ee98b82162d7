package caddymodule

import (
	"context"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Verify configures the verification of crawlers. Lookups run in the background, and no request
// waits for them.
type Verify struct {
	// The address lists to use: `official` for the lists of operators and of the configuration,
	// `configured` for the lists of the configuration only, or `off`. Default: `official`.
	Ranges string `json:"ranges,omitempty"`

	// Do not verify by DNS. By default, the guard looks up the host name of the client's address,
	// and then the addresses of that host name.
	NoRDNS bool `json:"no_rdns,omitempty"`

	// The DNS server, as `address` or `address:port`. Default: the system's.
	Resolver string `json:"resolver,omitempty"`

	// Verify the signatures of requests (Web Bot Auth). Experimental, because the protocol may
	// change. A valid signature verifies a client. An invalid signature proves nothing.
	WebBotAuth bool `json:"web_bot_auth,omitempty"`
}

// These are the values of Verify.Ranges.
const (
	rangesOfficial   = "official"
	rangesConfigured = "configured"
	rangesOff        = "off"
)

var rangesWords = []string{rangesOfficial, rangesConfigured, rangesOff}

// verifierConfig returns the configuration of the verifier for the crawlers of a registry.
func (a *App) verifierConfig(registry *uaident.Registry) verify.Config {
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
				c.Lists = append(c.Lists, verify.List{CrawlerOrOperator: crawler.Token, File: list.File, URL: list.URL})
			}
		}
		if !a.Verify.NoRDNS {
			for _, domain := range crawler.RDNS {
				c.Domains = append(c.Domains, verify.Domain{CrawlerOrOperator: crawler.Token, Suffix: domain})
			}
		}
	}
	return c
}

// PublishedRanges returns the addresses that operators publish. The result is nil if address lists
// are off.
func (a *App) PublishedRanges(operators ...string) *verify.PublishedRanges {
	if a.Verify == nil || a.Verify.Ranges == rangesOff {
		return nil
	}
	a.needsIdentity = true
	return a.state.Identity.Verifier.PublishedRanges(operators...)
}

// checkAddressLists reads the address lists in files. An invalid file is an error before the
// configuration changes anything.
func (a *App) checkAddressLists() error {
	v := verify.New(verify.Options{MaxVerified: 1, MaxOtherResults: 1})
	defer v.Close()
	return addRangeLines(a.Crawlers, v.Configure(a.verifierConfig(a.currentRegistry.Load())))
}

// startSignatureVerification starts to verify request signatures by the signing agents of a registry, if
// enabled. It replaces the previous agents.
func (a *App) startSignatureVerification(registry *uaident.Registry) error {
	if a.Verify == nil || !a.Verify.WebBotAuth {
		return nil
	}
	ctx, end := context.WithCancel(a.ctx)
	signatures, err := a.state.Identity.AcquireSignatureVerifier(ctx, registry, a.logger, a.state.Metrics.CountDirectoryFetch)
	if err != nil {
		end()
		return err
	}
	a.identity.Signatures.Store(signatures)
	if a.stopSignatures != nil {
		a.stopSignatures()
	}
	a.stopSignatures = end
	return nil
}

// prepareRegistry makes verification use another registry, before it replaces the current registry.
// An error means that the registry cannot be used.
func (a *App) prepareRegistry(registry *uaident.Registry) error {
	if _, err := identity.SigningAgents(registry); err != nil || a.Verify == nil {
		return err
	}
	stopPrevious := a.stopVerification
	stopNew, err := a.state.Identity.ApplyConfig(a.verifierConfig(registry))
	if err != nil {
		return err
	}
	a.stopVerification = stopNew
	if err := stopPrevious(); err != nil {
		return err
	}
	return a.startSignatureVerification(registry)
}
