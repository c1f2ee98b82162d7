package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func init() { caddy.RegisterModule(new(OperatorRanges)) }

// OperatorRanges provides the address ranges that operators of crawlers publish, for
// `trusted_proxies` and for other modules with a source of IP ranges.
//
// The global option `verify` must be on, because it loads the lists of ranges. A list that is not
// loaded yet provides no ranges.
type OperatorRanges struct {
	// The operators, such as `Google` or `OpenAI`. Case does not matter.
	Operators []string `json:"operators,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place if the built-in registry lacks one of the operators.
	CaddyfileLine string `json:"at,omitempty"`

	publishedRanges *verify.PublishedRanges
}

// CaddyModule returns the Caddy module information.
func (*OperatorRanges) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.ip_sources.robots_guard",
		New: func() caddy.Module { return new(OperatorRanges) },
	}
}

// UnmarshalCaddyfile sets up the source from Caddyfile tokens. Syntax:
//
//	robots_guard <operator...>
func (o *OperatorRanges) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if o.Operators = d.RemainingArgs(); len(o.Operators) == 0 {
		return d.Err("robots_guard needs the name of an operator, such as Google")
	}
	if d.NextBlock(0) {
		return d.Err("robots_guard takes no block here")
	}
	if o.checkOperators(uaident.Default()) != nil { // A crawler option may add the operator.
		o.CaddyfileLine = option.CaddyfileLine(d)
	}
	return nil
}

// Provision sets up the source.
func (o *OperatorRanges) Provision(ctx caddy.Context) error {
	app, err := UseApp(ctx)
	if err != nil {
		return err
	}
	if err := o.checkOperators(app.Registry()); err != nil {
		return option.AddCaddyfileLine(o.CaddyfileLine, err)
	}
	if app.Verify != nil && app.Verify.Ranges == rangesOff {
		return option.AddCaddyfileLine(o.CaddyfileLine, errors.New("the IP source robots_guard needs address lists, which are off; "+
			"remove \"ranges off\" from verify in the global option robots_guard"))
	}
	if o.publishedRanges = app.PublishedRanges(o.Operators...); o.publishedRanges == nil {
		return option.AddCaddyfileLine(o.CaddyfileLine, errors.New("the IP source robots_guard needs verify, which is off; "+
			"add \"verify on\" to robots_guard in the global options"))
	}
	return nil
}

// checkOperators returns an error for the first operator without a crawler in the registry.
func (o *OperatorRanges) checkOperators(registry *uaident.Registry) error {
	if len(o.Operators) == 0 {
		return errors.New("the IP source robots_guard needs operators, such as Google")
	}
	operators := make(map[string]bool)
	var names []string
	for _, c := range registry.Crawlers() {
		if folded := strings.ToLower(c.Operator); c.Operator != "" && !operators[folded] {
			operators[folded] = true
			names = append(names, c.Operator)
		}
	}
	for _, name := range o.Operators {
		if operators[strings.ToLower(name)] {
			continue
		}
		hint := "caddy robots-guard registry show <crawler> prints the operator of a crawler"
		if c := registry.Lookup(name); c != nil && c.Operator != "" {
			hint = fmt.Sprintf("did you mean %s, the operator of %s?", c.Operator, c.Token)
		} else if near := text.Nearest(name, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Errorf("unknown operator %q; %s", name, hint)
	}
	return nil
}

// GetIPRanges returns the addresses in the published lists of the operators, as far as they are
// loaded.
func (o *OperatorRanges) GetIPRanges(*http.Request) []netip.Prefix {
	return o.publishedRanges.Prefixes()
}

// Interface guards
var (
	_ caddy.Provisioner       = (*OperatorRanges)(nil)
	_ caddyfile.Unmarshaler   = (*OperatorRanges)(nil)
	_ caddyhttp.IPRangeSource = (*OperatorRanges)(nil)
)
