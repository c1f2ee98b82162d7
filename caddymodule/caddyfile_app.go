package caddymodule

import (
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// parseGlobalOption parses the global option robots_guard. See [App.UnmarshalCaddyfile] for the
// syntax.
func parseGlobalOption(d *caddyfile.Dispenser, before any) (any, error) {
	if before != nil {
		d.Next()
		return nil, d.Err("robots_guard is set twice; remove one")
	}
	var app App
	if err := app.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "robots_guard", Value: caddyconfig.JSON(app, nil)}, nil
}

// UnmarshalCaddyfile sets up the app from Caddyfile tokens. Syntax:
//
//	robots_guard {
//	    policies <n>
//	    unknown_hosts <n>
//	    unknown_host_fetches <n>
//	    storage  on|off
//	    retention <duration>
//	    notify   <url> {
//	        secret   <secret>
//	        severity critical|warning|info
//	        wait     <duration>
//	        interval <duration>
//	    }
//	    production <host...>
//	    verify   on|off {
//	        ranges       official|configured|off
//	        rdns         on|off
//	        resolver     <address>
//	        web_bot_auth on|off
//	    }
//	    registry <file|url> {
//	        interval <duration>
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
// verify with a block and without an argument is on. crawler can be repeated for each token, and
// notify for each URL.
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // This skips the option's name.
	if d.NextArg() {
		return d.Errf("unexpected argument %q; write options into a block after robots_guard", d.Val())
	}
	siteOptions := option.MisplacedOptions(append(new(Handler).options(nil), modeOptions...), "for one site; write the option into robots_guard of the site")
	return option.ReadBlock(d, append(a.options(), siteOptions...), a.validateValues, a.Validate)
}

// options returns the options in the block of the global option robots_guard.
func (a *App) options() []option.Option {
	return []option.Option{
		{Name: "policies", Usage: option.NumberUsage(maxPolicies), ParseArguments: option.ParseOneArgument(&a.MaxPolicies, option.ParseNonZeroNumber)},
		{Name: "unknown_hosts", Usage: option.NumberUsage(maxPolicies), ParseArguments: option.ParseOneArgument(&a.UnknownHosts, option.ParseNonZeroNumber)},
		{Name: "unknown_host_fetches", Usage: option.NumberUsage(maxUnknownHostFetches), ParseArguments: option.ParseOneArgument(&a.UnknownHostFetches, option.ParseNonZeroNumber)},
		{Name: "storage", Usage: "on or off", ParseArguments: option.ParseOneArgumentAsPointer(&a.Storage, option.ParseOnOff)},
		{Name: "retention", Usage: retentionRange, ParseArguments: option.ParseOneArgument(&a.Retention, option.ParseDuration)},
		{Name: "notify", Usage: "a URL such as https://hooks.example.com/alerts or {env.ALERTS_URL}, and a block of options", ParseArguments: a.addReceiver, ParseBlock: a.parseReceiver, Repeatable: true, Nested: new(notify.ReceiverConfig).Options()},
		{Name: "production", Usage: "one or more hosts, for example www.example.com or *.example.com", ParseArguments: option.ParseManyArguments(&a.Production)},
		{Name: "verify", Usage: "on or off, or a block of options", ParseArguments: a.setVerify, ParseBlock: a.parseVerify, Nested: new(Verify).options()},
		{Name: "registry", Usage: "a file or an http or https URL, and perhaps a block of options", ParseArguments: a.setRegistry, ParseBlock: a.parseRegistry, Nested: new(Registry).Options()},
		{Name: "crawler", Usage: "a product token and a block of options", ParseArguments: a.addCrawler, ParseBlock: a.parseCrawler, Repeatable: true, Nested: new(Crawler).Options()},
	}
}

func (a *App) addReceiver(args []string) error {
	var r Receiver
	if err := option.ParseOneArgument(&r.URL, option.AcceptNonEmptyString)(args); err != nil {
		return err
	}
	a.Notify = append(a.Notify, r)
	return nil
}

// parseReceiver parses the block of the last receiver.
func (a *App) parseReceiver(d *caddyfile.Dispenser) error {
	return (*notify.ReceiverConfig)(&a.Notify[len(a.Notify)-1]).UnmarshalCaddyfile(d)
}

func (a *App) setVerify(args []string) error {
	switch {
	case len(args) > 1:
		return option.ErrCount
	case len(args) == 0 || args[0] == "on":
		a.Verify = new(Verify)
	case args[0] != "off":
		return option.ErrValue
	}
	return nil
}

func (a *App) parseVerify(d *caddyfile.Dispenser) error {
	if a.Verify != nil {
		return option.ReadBlock(d, a.Verify.options(), a.validateValues, a.validateValues)
	}
	if nesting := d.Nesting(); d.NextBlock(nesting) {
		return d.Errf("verify is off, so %s has no effect; remove one of them", d.Val())
	}
	return nil
}

// options returns the options in the block of verify.
func (v *Verify) options() []option.Option {
	return []option.Option{
		{Name: "ranges", Usage: option.JoinWords(rangesWords, "or"), ParseArguments: option.ParseOneArgument(&v.Ranges, option.AcceptNonEmptyString)},
		{Name: "rdns", Usage: "on or off", ParseArguments: option.ParseOneArgument(&v.NoRDNS, option.ParseInvertedOnOff)},
		{Name: "resolver", Usage: "the address of a DNS server, for example 192.0.2.53", ParseArguments: option.ParseOneArgument(&v.Resolver, option.AcceptAnyString)},
		{Name: "web_bot_auth", Usage: "on or off", ParseArguments: option.ParseOneArgument(&v.WebBotAuth, option.ParseOnOff)},
	}
}

func (a *App) setRegistry(args []string) error {
	a.RegistrySource = new(Registry)
	return option.ParseOneArgument(&a.RegistrySource.From, option.AcceptNonEmptyString)(args)
}

func (a *App) parseRegistry(d *caddyfile.Dispenser) error {
	return a.RegistrySource.UnmarshalCaddyfile(d)
}

func (a *App) addCrawler(args []string) error {
	a.Crawlers = append(a.Crawlers, Crawler{})
	return option.ParseOneArgument(&a.Crawlers[len(a.Crawlers)-1].Token, option.AcceptAnyString)(args)
}

// parseCrawler parses the block of the last crawler.
func (a *App) parseCrawler(d *caddyfile.Dispenser) error {
	return a.Crawlers[len(a.Crawlers)-1].UnmarshalCaddyfile(d)
}
