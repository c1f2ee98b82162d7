package caddymodule

import (
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("robots_guard", parseGlobalOption)
	option.RegisterDirective("robots_guard", parseCaddyfile)
	// The guard judges the URL that the crawler requested, so it runs before redirects, rewrites,
	// caches and authentication.
	httpcaddyfile.RegisterDirectiveOrder("robots_guard", httpcaddyfile.Before, "redir")
}

// parseCaddyfile parses the directive robots_guard. See [Handler.UnmarshalCaddyfile] for the
// syntax.
func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	registry, fixedRegistry, err := ConfiguredRegistry(helper)
	if err != nil {
		return nil, err
	}
	h := &Handler{registry: registry, fixedRegistry: fixedRegistry}
	return h, h.parse(helper.Dispenser, func(d *caddyfile.Dispenser) error {
		block := d.NewFromNextSegment()
		handler, err := httpcaddyfile.ParseSegmentAsSubroute(helper.WithDispenser(block))
		if err != nil {
			return err
		}
		h.OnViolation = handler.(*caddyhttp.Subroute).Routes
		if len(h.OnViolation) == 0 {
			return block.Err("on_violation needs at least one directive, such as respond 402")
		}
		return nil
	})
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	robots_guard [<matcher>] [monitor|enforce [<token|class...>]] {
//	    source        server|<url> [host <host>]|file <path> [optional]
//	    decide        forwarded [<host...>]
//	    shadow        <url>|file <path>
//	    fetch_timeout <duration>
//	    fetch_wait    <duration>
//	    fetch_from    <ip>
//	    ttl           <min> <max>
//	    grace         off|<duration>
//	    change_guard  off|<duration>
//	    unreachable   last_good|allow|disallow|disallow_google
//	    merge_slashes on|off
//	    allow_private on|off
//	    wildcard      <class...>
//	    exempt        [verified] <token|class...>
//	    only_log      [verified] <token|class...>
//	    spoofed       judge|block|log
//	    rate          [observe|enforce] {
//	        crawl_delay on|off
//	        limit     <token|class> [<requests>/<duration> [burst <number>]] [concurrent <number>]
//	        max_delay <duration>
//	        burst     <number>
//	        over      <factor> [for <duration>]
//	        search    observe|enforce
//	        count     documents|all
//	    }
//	    status        <code>
//	    on_violation {
//	        <directives...>
//	    }
//	}
//
// on_violation requires a whole Caddyfile, because its directives need the other parts.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return h.parse(d, func(d *caddyfile.Dispenser) error {
		return d.Err("on_violation can only be used in a site of a Caddyfile")
	})
}

// parse parses the directive. onViolation parses the block of on_violation.
func (h *Handler) parse(d *caddyfile.Dispenser, onViolation func(*caddyfile.Dispenser) error) error {
	d.Next() // This skips the directive's name.
	options, words := h.options(onViolation), d.RemainingArgs()
	if name := option.FirstOptionName(options, words); name != "" {
		return d.Errf("%s is an option of the block; write the option into robots_guard enforce { ... }", name)
	}
	if len(words) > 0 {
		h.Mode, words = words[0], words[1:]
		if !slices.Contains(modeWords, h.Mode) {
			return d.WrapErr(unknownModeError(h.Mode))
		}
	}
	if h.Mode == modeEnforce && len(words) > 0 {
		h.EnforceOnly, words = words, nil
		// The word monitor is also a class, but here it means the mode.
		if slices.Contains(h.EnforceOnly, modeMonitor) {
			return d.Err("monitor and enforce are two modes; keep one")
		}
		if slices.Contains(h.EnforceOnly, "all") {
			return d.Err(`enforce alone blocks all classes; remove "all"`)
		}
		if err := h.validateClients(); err != nil {
			return d.WrapErr(err)
		}
	}
	if len(words) > 0 {
		return d.Errf("unexpected argument %q; write options into a block after the directive", words[0])
	}
	appOptions := option.MisplacedOptions(new(App).options(), "for all sites; write the option into robots_guard { ... } of the global options, at the top of the Caddyfile")
	misplacedModes := option.MisplacedOptions(modeOptions, "not an option; the mode comes after robots_guard, as in robots_guard enforce")
	managedOptions := option.MisplacedOptions(managedOptionNames, "of the directive robots_txt, which generates a robots.txt; robots_guard reads the robots.txt of the site")
	return option.ReadBlock(d, slices.Concat(options, appOptions, misplacedModes, managedOptions), h.validateValues, h.Validate)
}

// modeOptions are modes that people write as options.
var modeOptions = []option.Option{{Name: modeMonitor}, {Name: modeEnforce}, {Name: "mode"}}

// managedOptionNames are options of robots_txt that people write in robots_guard.
var managedOptionNames = []option.Option{{Name: "allow"}, {Name: "base"}, {Name: "content_signal"}, {Name: "content_usage"}, {Name: "disallow"}, {Name: "rule"}, {Name: "rules"}, {Name: "sitemap"}}

// GuardOptions returns the options of robots_guard, so that robots_txt can recognize misplaced
// options.
func GuardOptions() []option.Option { return new(Handler).options(nil) }

// options returns the options in the block of robots_guard.
func (h *Handler) options(onViolation func(*caddyfile.Dispenser) error) []option.Option {
	return []option.Option{
		{Name: "source", Usage: "server, a URL such as https://example.com/robots.txt and optionally host <host>, or file <path> and optionally the word optional", ParseArguments: h.setSource, SetLine: h.setMissingSourceLine},
		decideOption(&h.Decide),
		{Name: "shadow", Usage: "a URL such as https://example.com/next.txt, or file <path>", ParseArguments: h.setShadow},
		{Name: "fetch_timeout", Usage: "a duration, for example 5s", ParseArguments: option.ParseOneArgument(&h.FetchTimeout, option.ParseDuration)},
		{Name: "fetch_wait", Usage: "a duration, for example 250ms", ParseArguments: option.ParseOneArgument(&h.FetchWait, option.ParseDuration)},
		{Name: "fetch_from", Usage: "a public IP address, for example 203.0.113.7", ParseArguments: option.ParseOneArgument(&h.FetchFrom, option.AcceptNonEmptyString)},
		{Name: "ttl", Usage: "a minimum and a maximum, each of more than 0, such as 1m 24h", ParseArguments: option.ParseTwoArguments(&h.TTLMin, &h.TTLMax, option.ParseDuration)},
		{Name: "grace", Usage: "off or a duration, for example 24h", ParseArguments: option.ParseOneArgument(&h.Grace, option.ParseDurationOrOff(-1))},
		{Name: "change_guard", Usage: "off or a duration, for example 6h", ParseArguments: option.ParseOneArgument(&h.ChangeGuard, option.ParseDurationOrOff(0))},
		{Name: "unreachable", Usage: option.JoinWords(unreachableWords, "or"), ParseArguments: option.ParseOneArgument(&h.Unreachable, option.AcceptNonEmptyString)},
		{Name: "merge_slashes", Usage: "on or off", ParseArguments: option.ParseOneArgument(&h.KeepSlashes, option.ParseInvertedOnOff)},
		{Name: "allow_private", Usage: "on or off", ParseArguments: option.ParseOneArgument(&h.AllowPrivate, option.ParseOnOff)},
		{Name: "wildcard", Usage: "one or more classes, for example search", ParseArguments: option.ParseManyArguments(&h.Wildcard)},
		{Name: "exempt", Usage: "one or more product tokens or classes such as Googlebot or monitor, optionally after verified", ParseArguments: clientListParser("exempt", &h.Exempt, &h.ExemptVerified), Repeatable: true},
		{Name: "only_log", Usage: "one or more product tokens or classes such as Bingbot or search, optionally after verified", ParseArguments: clientListParser("only_log", &h.OnlyLog, &h.OnlyLogVerified), Repeatable: true},
		{Name: "spoofed", Usage: option.JoinWords(spoofedWords, "or"), ParseArguments: option.ParseOneArgument(&h.Spoofed, option.AcceptNonEmptyString)},
		rateOption(&h.Rate, h.registry),
		{Name: "status", Usage: "403 or another status code from 400 to 599", ParseArguments: option.ParseOneArgument(&h.Status, option.ParseNonZeroNumber)},
		{Name: "on_violation", Usage: "a block of directives", ParseArguments: option.ParseNoArguments, ParseBlock: onViolation},
	}
}

func (h *Handler) setSource(args []string) (err error) {
	if h.Source = nil; len(args) != 1 || args[0] != "server" {
		h.Source, err = ParseLocation(args)
	}
	return err
}

// setMissingSourceLine records the Caddyfile line of a source file that is missing. It is no error
// yet, because the file may exist on the machine that loads the configuration.
func (h *Handler) setMissingSourceLine(d *caddyfile.Dispenser) {
	if h.checkSourceFile() != nil {
		h.Source.CaddyfileLine = option.CaddyfileLine(d)
	}
}

func (h *Handler) setShadow(args []string) (err error) {
	if h.Shadow, err = ParseLocation(args); err == nil && h.Shadow.Optional {
		err = option.ErrValue
	}
	return err
}

// clientListParser returns the parser of an option with product tokens and classes. A line that
// begins with "verified" sets the second list.
func clientListParser(name string, claimed, verified *[]string) func([]string) error {
	return func(args []string) error {
		name, target := name, claimed
		if len(args) > 0 && args[0] == verify.Verified.String() {
			name, target, args = name+" verified", verified, args[1:]
		}
		if *target != nil {
			return fmt.Errorf("%s is set twice; remove one", name)
		}
		return option.ParseManyArguments(target)(args)
	}
}
