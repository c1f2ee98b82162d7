package caddymodule

import (
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
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

// validate checks the configuration.
func (v *Verify) validate() error {
	if v == nil {
		return nil
	}
	switch v.Ranges {
	case "", rangesOfficial, rangesConfigured, rangesOff:
	default:
		return fmt.Errorf("verify: ranges %q is not known; use official, configured or off", v.Ranges)
	}
	if v.Resolver != "" && v.NoRDNS {
		return fmt.Errorf("verify: a resolver is of no use while rdns is off")
	}
	return nil
}

// parseVerify reads "on", "off" or a block.
func parseVerify(d *caddyfile.Dispenser) (*Verify, error) {
	v := new(Verify)
	args := d.RemainingArgs()
	if len(args) > 1 || len(args) == 1 && args[0] != "on" && args[0] != "off" {
		return nil, argErr(d, "verify")
	}
	off := len(args) == 1 && args[0] == "off"
	err := eachOption(d, func(name string) (err error) {
		if off {
			return d.Errf("verify is off, so %s means nothing; remove one of them", name)
		}
		switch name {
		case "ranges":
			v.Ranges, err = oneOf(d, rangesOfficial, rangesConfigured, rangesOff)
		case "rdns":
			var on bool
			on, err = parseSwitch(d)
			v.NoRDNS = !on
		case "resolver":
			_, v.Resolver, err = oneArg(d)
		case "web_bot_auth":
			v.WebBotAuth, err = parseSwitch(d)
		default:
			return d.Errf("unrecognized option %q; known are ranges, rdns, resolver and web_bot_auth", name)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case off:
		return nil, nil
	}
	so := App{Verify: v}
	if err := so.Validate(); err != nil {
		return nil, d.WrapErr(err)
	}
	return v, nil
}

// parseCrawler reads "<token>" and a block. It may fall back to those before it.
func parseCrawler(d *caddyfile.Dispenser, before []Crawler) (Crawler, error) {
	_, token, err := oneArg(d)
	c := Crawler{Token: token}
	if err != nil {
		return c, err
	}
	err = eachOption(d, func(name string) (err error) {
		switch name {
		case "operator":
			_, c.Operator, err = oneArg(d)
		case "class":
			_, c.Class, err = oneArg(d)
		case "fallback":
			c.Fallback, err = parseWords(d, func([]string) error { return nil })
		case "wildcard":
			var on bool
			on, err = parseSwitch(d)
			c.Wildcard = &on
		case "ranges":
			c.Ranges, err = parseRanges(d)
		case "rdns":
			c.RDNS, err = parseWords(d, func([]string) error { return nil })
		case "web_bot_auth":
			_, c.WebBotAuth, err = oneArg(d)
		default:
			return d.Errf("unrecognized option %q; known are operator, class, fallback, wildcard, ranges, rdns and web_bot_auth", name)
		}
		return err
	})
	if err != nil {
		return c, err
	}
	so := App{Verify: new(Verify), Crawlers: append(slices.Clip(before), c)}
	if err := so.Validate(); err != nil {
		return c, d.WrapErr(err)
	}
	return c, nil
}

// parseRanges reads "url <url...>" or "file <path...>".
func parseRanges(d *caddyfile.Dispenser) (lists []Ranges, err error) {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return nil, argErr(d, "ranges of a crawler")
	}
	for _, arg := range args[1:] {
		switch args[0] {
		case "url":
			lists = append(lists, Ranges{URL: arg})
		case "file":
			lists = append(lists, Ranges{File: arg})
		default:
			return nil, argErr(d, "ranges of a crawler")
		}
	}
	return lists, nil
}

// eachOption reads a block of options, none of which may be set twice.
func eachOption(d *caddyfile.Dispenser, read func(name string) error) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		if seen[name] {
			return d.Errf("%s is set twice; keep one", name)
		}
		seen[name] = true
		if err := read(name); err != nil {
			return err
		}
		if nesting := d.Nesting(); d.NextBlock(nesting) {
			return d.Errf("%s takes no block", name)
		}
	}
	return nil
}
