package caddymodule

import "github.com/robotsguard/caddy-robots-guard/uaident/verify"

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

// config returns what a verifier has to know of the configuration.
func (a *App) config() verify.Config {
	if a.Verify == nil {
		return verify.Config{}
	}
	c := verify.Config{
		Crawlers:   a.registry.Crawlers(),
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
	c := a.config()
	return c.Confirms() || a.Verify != nil && a.Verify.WebBotAuth
}

// checkLists reads the lists of addresses that are files, so that one that cannot
// be used fails before anything has changed.
func (a *App) checkLists() error {
	v := verify.New(verify.Options{KeepVerified: 1, KeepOthers: 1})
	defer v.Close()
	return v.Configure(a.config())
}
