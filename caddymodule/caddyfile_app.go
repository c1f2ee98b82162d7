package caddymodule

import (
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("robots_guard", parseGlobalOption)
}

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
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		if seen[name] && name != "crawler" {
			return d.Errf("%s is set twice; keep one", name)
		}
		seen[name] = true
		if err := a.option(d, name); err != nil {
			return err
		}
		if nesting := d.Nesting(); d.NextBlock(nesting) {
			return d.Errf("%s takes no block", name)
		}
	}
	if err := a.Validate(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// option reads one line of the block.
func (a *App) option(d *caddyfile.Dispenser, name string) (err error) {
	switch name {
	case "policies":
		a.Policies, err = parseCount(d, maxPolicies)
	case "unnamed_hosts":
		a.UnnamedHosts, err = parseCount(d, maxPolicies)
	case "unnamed_reads":
		a.UnnamedReads, err = parseCount(d, maxUnnamedReads)
	case "storage":
		a.Storage, err = parseSwitch(d)
	case "retention":
		a.Retention, err = parseRetention(d)
	case "verify":
		a.Verify, err = parseVerify(d)
	case "crawler":
		var c Crawler
		if c, err = parseCrawler(d, a.Crawlers); err == nil {
			a.Crawlers = append(a.Crawlers, c)
		}
	default:
		return d.Errf("unrecognized option %q; known are policies, unnamed_hosts, unnamed_reads, storage, retention, verify and crawler", name)
	}
	return err
}

// parseRetention reads for how long the ledger is kept.
func parseRetention(d *caddyfile.Dispenser) (caddy.Duration, error) {
	_, arg, err := oneArg(d)
	if err != nil {
		return 0, err
	}
	retention, err := caddy.ParseDuration(arg)
	if err != nil || retention < ledger.MinRetention || retention > ledger.MaxRetention {
		return 0, d.Errf("retention %q cannot be; use a time from 1h to 90d, such as 30d", arg)
	}
	return caddy.Duration(retention), nil
}

// parseCount reads a number from 1 to most.
func parseCount(d *caddyfile.Dispenser, most int) (int, error) {
	name, arg, err := oneArg(d)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > most {
		return 0, d.Errf("%s %q cannot be; use a number from 1 to %d", name, arg, most)
	}
	return n, nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*App)(nil)
