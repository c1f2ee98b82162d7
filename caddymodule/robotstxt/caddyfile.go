package robotstxt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

func init() {
	option.RegisterDirective("robots_txt", parseCaddyfile)
	// The order puts robots_txt after robots_guard, so that robots_guard sees the served file. Both
	// use the same position, and robots_guard was registered first.
	httpcaddyfile.RegisterDirectiveOrder("robots_txt", httpcaddyfile.Before, "redir")
}

func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	registry, _, err := caddymodule.ConfiguredRegistry(helper)
	if err != nil {
		return nil, err
	}
	h := &Handler{registry: registry}
	return h, h.UnmarshalCaddyfile(helper.Dispenser)
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	robots_txt [<matcher>] {
//	    base        upstream|none|file <path>
//	    disallow    <token|class|*...> [{
//	        <path...>
//	    }]
//	    allow       <token|class|*...> [{
//	        <path...>
//	    }]
//	    crawl_delay <token|class|*> <seconds>
//	    content_usage  [<path>] <use>=y|n[, ...]
//	    content_signal <use>=yes|no[, ...]
//	    training_preference y|n [noarchive]
//	    sitemap     <url>
//	    line        <text>
//	    rule        <id> {
//	        for      <token|class|*...>
//	        disallow [<path...>]
//	        allow    [<path...>]
//	        content_usage  [<path>] <use>=y|n[, ...]
//	        content_signal <use>=yes|no[, ...]
//	        training_preference y|n
//	        from     <RFC 3339>
//	        until    <RFC 3339>
//	        hosts    <host...>
//	        reason   <text>
//	        owner    <text>
//	        ticket   <text>
//	    }
//	    rules       <file|url>
//	    staging     [<host...>]
//	    gate        error|warning|off
//	    confirm     search|any|off
//	    rollout     now|shadow <duration>|hosts <host...> [<duration>]
//	    max_age     <duration>
//	}
//
// The options base, training_preference, staging, gate, confirm, rollout and max_age may appear only
// once. All other options may be repeated.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	begin := *d
	if d.NextArg() {
		return d.Errf("unexpected argument %q; write options into a block after robots_txt", d.Val())
	}
	if err := option.ReadBlock(d, append(h.options(), ofGuard()...), h.Validate, h.Validate); err != nil {
		return err
	}
	if len(h.Rules)+len(h.Lists)+len(h.Sitemaps)+len(h.Lines) == 0 && !h.Staging {
		return begin.Err("robots_txt has no rules; write a rule such as disallow ai_training, or staging")
	}
	return nil
}

// options returns the options of the directive's block.
func (h *Handler) options() []option.Option {
	const who = "one or more product tokens or classes such as ai_training, or *, and perhaps a block of paths"
	return []option.Option{
		{Name: "base", Usage: "upstream, none or file <path>", Set: h.setBase, SetLine: h.markBase},
		{Name: "disallow", Usage: who, Set: h.addRule(false), SetLine: h.markRule, Block: h.readPaths, Repeatable: true},
		{Name: "allow", Usage: who, Set: h.addRule(true), SetLine: h.markRule, Block: h.readPaths, Repeatable: true},
		{Name: "crawl_delay", Usage: "a product token, a class or *, and seconds, for example 10", Set: h.addDelay, SetLine: h.markRule, Repeatable: true},
		{Name: "content_usage", Usage: usageWords, Set: h.addPreference(func(r *Rule) *string { return &r.ContentUsage }), SetLine: h.markRule, Repeatable: true},
		{Name: "content_signal", Usage: signalWords, Set: h.addPreference(func(r *Rule) *string { return &r.ContentSignal }), SetLine: h.markRule, Repeatable: true},
		{Name: "training_preference", Usage: "y, n, or n noarchive", Set: h.setTraining, SetLine: h.markRule},
		{Name: "sitemap", Usage: "a URL, for example https://{host}/sitemap.xml", Set: add(&h.Sitemaps), Repeatable: true},
		{Name: "line", Usage: "a line in quotes, such as \"Host: example.com\"", Set: add(&h.Lines), Repeatable: true},
		{Name: "rule", Usage: "a name such as sale-2026, and a block", Set: h.addNamed, SetLine: h.markRule, Block: h.readRule, Repeatable: true},
		{Name: "rules", Usage: "a file, or a URL, for example https://cms.example.com/rules.json", Set: add(&h.Lists), SetLine: h.markList, Repeatable: true},
		{Name: "staging", Usage: "nothing, or hosts, for example staging.example.com", Set: h.setStaging},
		{Name: "gate", Usage: "error, warning or off", Set: option.OneArgument(&h.Gate, option.OneOfWords(gateWords...))},
		{Name: "confirm", Usage: "search, any or off", Set: option.OneArgument(&h.Confirm, option.OneOfWords(confirmWords...))},
		{Name: "rollout", Usage: "now, shadow and a duration such as 24h, or hosts, one or more hosts and optionally a duration", Set: h.setRollout, SetLine: h.markRollout},
		{Name: "max_age", Usage: "a duration from 1m to 24h, for example 1h", Set: option.OneArgument(&h.MaxAge, option.Duration)},
	}
}

func (h *Handler) setBase(args []string) error {
	switch {
	case len(args) == 0:
		return option.ErrCount
	case len(args) == 1 && (args[0] == baseUpstream || args[0] == baseNone):
		h.Base = args[0]
	case len(args) == 2 && args[0] == "file" && args[1] != "":
		h.BaseFile = args[1]
	default:
		return option.ErrValue
	}
	return nil
}

func (h *Handler) addRule(allow bool) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return option.ErrCount
		}
		h.Rules = append(h.Rules, Rule{For: args, Allow: allow})
		return noPath(args)
	}
}

// markRule records the position of the last rule.
func (h *Handler) markRule(d *caddyfile.Dispenser) {
	h.Rules[len(h.Rules)-1].At = option.LineOf(d)
}

// addNamed adds a named rule. readRule parses its block.
func (h *Handler) addNamed(args []string) error {
	if len(args) != 1 {
		return option.ErrCount
	}
	h.Rules = append(h.Rules, Rule{ID: args[0]})
	return nil
}

// readRule parses the block of the last rule, which has a name.
func (h *Handler) readRule(d *caddyfile.Dispenser) error {
	r := &h.Rules[len(h.Rules)-1]
	says := 0
	once := func(set func([]string) error) func([]string) error {
		return func(args []string) error {
			if says++; says > 1 {
				return errors.New("a rule can have only one kind of statement; write a second rule")
			}
			return set(args)
		}
	}
	say := func(allow bool) func([]string) error {
		return once(func(paths []string) error {
			r.Allow, r.Paths = allow, paths
			return nil
		})
	}
	const when = "a time with its zone, for example 2026-11-27T00:00:00+01:00"
	options := []option.Option{
		{Name: "for", Usage: "one or more product tokens or classes such as ai_training, or *", Set: option.ManyArguments(&r.For)},
		{Name: "disallow", Usage: "paths, or nothing for the whole site", Set: say(false)},
		{Name: "allow", Usage: "paths, or nothing for the whole site", Set: say(true)},
		{Name: "content_usage", Usage: usageWords, Set: once(setPreference(&r.ContentUsage))},
		{Name: "content_signal", Usage: signalWords, Set: once(setPreference(&r.ContentSignal))},
		{Name: "training_preference", Usage: "y or n", Set: once(option.OneArgument(&r.TrainingPreference, option.OneOfWords("y", "n")))},
		{Name: "from", Usage: when, Set: option.OneArgument(&r.From, option.NonEmptyString)},
		{Name: "until", Usage: when, Set: option.OneArgument(&r.Until, option.NonEmptyString)},
		{Name: "hosts", Usage: "one or more hosts, for example shop.example.com", Set: option.ManyArguments(&r.Hosts)},
		{Name: "reason", Usage: "a text in quotes", Set: option.OneArgument(&r.Reason, option.NonEmptyString)},
		{Name: "owner", Usage: "a text in quotes", Set: option.OneArgument(&r.Owner, option.NonEmptyString)},
		{Name: "ticket", Usage: "a text in quotes", Set: option.OneArgument(&r.Ticket, option.NonEmptyString)},
	}
	return option.ReadBlock(d, options, func() error {
		_, err := managed.ParseWindow(r.From, r.Until)
		return nameError(r, err)
	}, func() error {
		switch {
		case len(r.For) == 0 && r.ContentUsage+r.ContentSignal+r.TrainingPreference == "":
			return nameError(r, errors.New("the rule names no crawler; add for with a product token, a class, for example ai_training, or *"))
		case says == 0:
			return nameError(r, errors.New("the rule has no effect; add disallow or allow, optionally with paths"))
		}
		return nil
	})
}

func nameError(r *Rule, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Name(), err)
	}
	return err
}

// readPaths parses the block of the last rule, which has paths.
func (h *Handler) readPaths(d *caddyfile.Dispenser) error {
	rule, begin := &h.Rules[len(h.Rules)-1], *d
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		rule.Paths = append(append(rule.Paths, d.Val()), d.RemainingArgs()...)
	}
	if len(rule.Paths) == 0 && d.Val() == "}" {
		return begin.Err("the block has no path; without a block the rule applies to the whole site")
	}
	return nil
}

func (h *Handler) addDelay(args []string) error {
	if len(args) != 2 {
		return option.ErrCount
	}
	if seconds, err := strconv.ParseFloat(args[1], 64); err != nil || !(seconds > 0 && seconds <= 86400) {
		return option.ErrValue
	}
	h.Rules = append(h.Rules, Rule{For: args[:1], CrawlDelay: args[1]})
	return nil
}

// Descriptions of the arguments of preferences.
const (
	usageWords  = "perhaps a path, and uses such as train-ai=n, search=y"
	signalWords = "uses such as search=yes, ai-train=no"
)

// addPreference returns a parser that adds a rule about all crawlers. field selects the field for the
// preference.
func (h *Handler) addPreference(field func(*Rule) *string) func([]string) error {
	return func(args []string) error {
		h.Rules = append(h.Rules, Rule{})
		return setPreference(field(&h.Rules[len(h.Rules)-1]))(args)
	}
}

// setPreference returns a parser that joins the arguments, which may be separated by commas.
func setPreference(into *string) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return option.ErrCount
		}
		*into = strings.Join(args, " ")
		return nil
	}
}

// setTraining adds the rule for a training preference in every form.
func (h *Handler) setTraining(args []string) error {
	switch {
	case len(args) == 0 || len(args) > 2:
		return option.ErrCount
	case args[0] != "y" && args[0] != "n", len(args) == 2 && (args[0] != "n" || args[1] != "noarchive"):
		return option.ErrValue
	}
	h.Rules = append(h.Rules, Rule{TrainingPreference: args[0]})
	h.NoArchive = len(args) == 2
	return nil
}

// add returns a parser that appends an argument to into at each call.
func add(into *[]string) func([]string) error {
	return func(args []string) error {
		if len(args) != 1 {
			return option.ErrCount
		}
		*into = append(*into, args[0])
		return nil
	}
}

func (h *Handler) setStaging(args []string) error {
	h.Staging, h.StagingHosts = true, args
	return nil
}

// ofGuard returns options of robots_guard often mistakenly written into robots_txt.
func ofGuard() []option.Option {
	own := option.Names(new(Handler).options())
	others := slices.DeleteFunc(caddymodule.GuardOptions(), func(o option.Option) bool { return slices.Contains(own, o.Name) })
	return option.Misplaced(others, "of the directive robots_guard; write the option into robots_guard { ... } of the site")
}
