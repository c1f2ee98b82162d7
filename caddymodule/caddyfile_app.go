package caddymodule

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// parseGlobalOption reads the global option of this name. See
// App.UnmarshalCaddyfile for the syntax.
func parseGlobalOption(d *caddyfile.Dispenser, before any) (any, error) {
	if before != nil {
		d.Next()
		return nil, d.Err("robots_guard is set twice; keep one")
	}
	var app App
	if err := app.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "robots_guard", Value: caddyconfig.JSON(app, nil)}, nil
}

// configuredRegistry returns the registry with the changes of the global option,
// which stands before the sites.
func configuredRegistry(helper httpcaddyfile.Helper) (*uaident.Registry, error) {
	const key = "robots_guard registry"
	if known, ok := helper.State[key].(*uaident.Registry); ok {
		return known, nil
	}
	var app App
	if option, ok := helper.Option("robots_guard").(httpcaddyfile.App); ok {
		if err := json.Unmarshal(option.Value, &app); err != nil {
			return nil, err
		}
	}
	registry, err := registryWith(app.Crawlers)
	if helper.State != nil {
		helper.State[key] = registry
	}
	return registry, err
}

// UnmarshalCaddyfile sets up the app from Caddyfile tokens. Syntax:
//
//	robots_guard {
//	    policies <n>
//	    unnamed_hosts <n>
//	    unnamed_reads <n>
//	    storage  on|off
//	    retention <duration>
//	    verify   on|off {
//	        ranges       official|configured|off
//	        rdns         on|off
//	        resolver     <address>
//	        web_bot_auth on|off
//	    }
//	    crawler <token> {
//	        operator     <name>
//	        class        <class>
//	        fallback     <token...>
//	        wildcard     on|off
//	        ranges       url <url...>|file <path...>
//	        rdns         <domain...>
//	        web_bot_auth <url>
//	    }
//	}
//
// verify without an argument, with a block, is on. crawler may stand several
// times, once for each token.
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the option's name
	if d.NextArg() {
		return d.Errf("unexpected argument %q; options stand in a block below robots_guard", d.Val())
	}
	return readBlock(d, a.options(), a.validateValues, a.Validate)
}

// options are what may stand in the block of the global option.
func (a *App) options() []option {
	return []option{
		{name: "policies", usage: countUpTo(maxPolicies), set: one(&a.Policies, number)},
		{name: "unnamed_hosts", usage: countUpTo(maxPolicies), set: one(&a.UnnamedHosts, number)},
		{name: "unnamed_reads", usage: countUpTo(maxUnnamedReads), set: one(&a.UnnamedReads, number)},
		{name: "storage", usage: "on or off", set: one(&a.Storage, onOff)},
		{name: "retention", usage: retentionRange, set: one(&a.Retention, duration)},
		{name: "verify", usage: "on or off, or a block of options", set: a.setVerify, block: a.readVerify},
		{name: "crawler", usage: "a product token and a block of options", set: a.addCrawler, block: a.readCrawler, again: true},
	}
}

func (a *App) setVerify(args []string) error {
	switch {
	case len(args) > 1:
		return errCount
	case len(args) == 0 || args[0] == "on":
		a.Verify = new(Verify)
	case args[0] != "off":
		return errValue
	}
	return nil
}

func (a *App) readVerify(d *caddyfile.Dispenser) error {
	if a.Verify != nil {
		return readBlock(d, a.Verify.options(), a.validateValues, a.validateValues)
	}
	if nesting := d.Nesting(); d.NextBlock(nesting) {
		return d.Errf("verify is off, so %s means nothing; remove one of them", d.Val())
	}
	return nil
}

// options are what may stand in the block of verify.
func (v *Verify) options() []option {
	return []option{
		{name: "ranges", usage: listed(rangesWords, "or"), set: one(&v.Ranges, word)},
		{name: "rdns", usage: "on or off", set: one(&v.NoRDNS, offOn)},
		{name: "resolver", usage: "the address of a DNS server such as 192.0.2.53", set: one(&v.Resolver, anyText)},
		{name: "web_bot_auth", usage: "on or off", set: one(&v.WebBotAuth, onOff)},
	}
}

func (a *App) addCrawler(args []string) error {
	a.Crawlers = append(a.Crawlers, Crawler{})
	return one(&a.Crawlers[len(a.Crawlers)-1].Token, anyText)(args)
}

// readCrawler reads the block of the crawler that was added last. What it has in
// common with others is checked at its end.
func (a *App) readCrawler(d *caddyfile.Dispenser) error {
	c := &a.Crawlers[len(a.Crawlers)-1]
	valid := func() error { _, err := c.entry(uaident.Default()); return err }
	return readBlock(d, c.options(), valid, valid)
}

// options are what may stand in the block of a crawler.
func (c *Crawler) options() []option {
	return []option{
		{name: "operator", usage: "a name such as Acme", set: one(&c.Operator, anyText)},
		{name: "class", usage: "a class such as ai_training", set: one(&c.Class, anyText)},
		{name: "fallback", usage: "one or more product tokens such as Googlebot", set: many(&c.Fallback)},
		{name: "wildcard", usage: "on or off", set: func(args []string) error {
			c.Wildcard = new(bool)
			return one(c.Wildcard, onOff)(args)
		}},
		{name: "ranges", usage: "url and one or more https URLs, or file and one or more paths", set: c.setRanges},
		{name: "rdns", usage: "one or more domains such as crawler.example.com", set: many(&c.RDNS)},
		{name: "web_bot_auth", usage: "an https URL", set: one(&c.WebBotAuth, anyText)},
	}
}

func (c *Crawler) setRanges(args []string) error {
	if len(args) < 2 {
		return errCount
	}
	for _, arg := range args[1:] {
		list, ok := map[string]Ranges{"url": {URL: arg}, "file": {File: arg}}[args[0]]
		if !ok {
			return errValue
		}
		c.Ranges = append(c.Ranges, list)
	}
	return nil
}
