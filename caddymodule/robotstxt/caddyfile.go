package robotstxt

import (
	"errors"
	"fmt"
	"slices"
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

// parseCaddyfile parses the directive robots_txt. See [Handler.UnmarshalCaddyfile] for the syntax.
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
	d.Next() // This skips the directive's name.
	begin := *d
	if d.NextArg() {
		return d.Errf("unexpected argument %q; write options into a block after robots_txt", d.Val())
	}
	if err := option.ReadBlock(d, append(h.options(), guardOnlyOptions()...), h.Validate, h.Validate); err != nil {
		return err
	}
	if len(h.Rules)+len(h.ListSources)+len(h.Sitemaps)+len(h.ExtraLines) == 0 && !h.Staging {
		return begin.Err("robots_txt has no rules; write a rule such as disallow ai_training, or staging")
	}
	return nil
}

// options returns the options in the block of robots_txt.
func (h *Handler) options() []option.Option {
	const who = "one or more product tokens or classes such as ai_training, or *, and perhaps a block of paths"
	return []option.Option{
		{Name: "base", Usage: "upstream, none or file <path>", ParseArguments: h.setBase, SetLine: h.setBaseLine},
		{Name: "disallow", Usage: who, ParseArguments: h.newRuleParser(false), SetLine: h.setRuleLine, ParseBlock: h.parsePaths, Repeatable: true},
		{Name: "allow", Usage: who, ParseArguments: h.newRuleParser(true), SetLine: h.setRuleLine, ParseBlock: h.parsePaths, Repeatable: true},
		{Name: "crawl_delay", Usage: "a product token, a class or *, and seconds, for example 10", ParseArguments: h.addCrawlDelay, SetLine: h.setRuleLine, Repeatable: true},
		{Name: "content_usage", Usage: usageWords, ParseArguments: h.newPreferenceParser(func(r *Rule) *string { return &r.ContentUsage }), SetLine: h.setRuleLine, Repeatable: true},
		{Name: "content_signal", Usage: signalWords, ParseArguments: h.newPreferenceParser(func(r *Rule) *string { return &r.ContentSignal }), SetLine: h.setRuleLine, Repeatable: true},
		{Name: "training_preference", Usage: "y, n, or n noarchive", ParseArguments: h.setTraining, SetLine: h.setRuleLine},
		{Name: "sitemap", Usage: "a URL, for example https://{host}/sitemap.xml", ParseArguments: newAppendParser(&h.Sitemaps), Repeatable: true},
		{Name: "line", Usage: "a line in quotes, such as \"Host: example.com\"", ParseArguments: newAppendParser(&h.ExtraLines), Repeatable: true},
		{Name: "rule", Usage: "a name such as sale-2026, and a block", ParseArguments: h.addNamedRule, SetLine: h.setRuleLine, ParseBlock: h.parseRule, Repeatable: true},
		{Name: "rules", Usage: "a file, or a URL, for example https://cms.example.com/rules.json", ParseArguments: newAppendParser(&h.ListSources), SetLine: h.setListLine, Repeatable: true},
		{Name: "staging", Usage: "nothing, or hosts, for example staging.example.com", ParseArguments: h.setStaging},
		{Name: "gate", Usage: "error, warning or off", ParseArguments: option.ParseOneArgument(&h.Gate, option.AcceptOneOf(gateWords...))},
		{Name: "confirm", Usage: "search, any or off", ParseArguments: option.ParseOneArgument(&h.Confirm, option.AcceptOneOf(confirmWords...))},
		{Name: "rollout", Usage: "now, shadow and a duration such as 24h, or hosts, one or more hosts and optionally a duration", ParseArguments: h.setRollout, SetLine: h.setRolloutLine},
		{Name: "max_age", Usage: "a duration from 1m to 24h, for example 1h", ParseArguments: option.ParseOneArgument(&h.MaxAge, option.ParseDuration)},
	}
}

// setBase parses the arguments of base.
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

// newRuleParser returns a parser that adds an allow or disallow rule for the crawlers in its
// arguments.
func (h *Handler) newRuleParser(allow bool) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return option.ErrCount
		}
		h.Rules = append(h.Rules, Rule{For: args, Allow: allow})
		return checkNoPath(args)
	}
}

// setRuleLine records the Caddyfile line of the last rule, for error messages.
func (h *Handler) setRuleLine(d *caddyfile.Dispenser) {
	h.Rules[len(h.Rules)-1].At = option.CaddyfileLine(d)
}

// addNamedRule adds a rule with a name. parseRule then parses the block of the rule.
func (h *Handler) addNamedRule(args []string) error {
	if len(args) != 1 {
		return option.ErrCount
	}
	h.Rules = append(h.Rules, Rule{ID: args[0]})
	return nil
}

// parseRule parses the block of the last rule, which has a name.
func (h *Handler) parseRule(d *caddyfile.Dispenser) error {
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
		{Name: "for", Usage: "one or more product tokens or classes such as ai_training, or *", ParseArguments: option.ParseManyArguments(&r.For)},
		{Name: "disallow", Usage: "paths, or nothing for the whole site", ParseArguments: say(false)},
		{Name: "allow", Usage: "paths, or nothing for the whole site", ParseArguments: say(true)},
		{Name: "content_usage", Usage: usageWords, ParseArguments: once(newJoinParser(&r.ContentUsage))},
		{Name: "content_signal", Usage: signalWords, ParseArguments: once(newJoinParser(&r.ContentSignal))},
		{Name: "training_preference", Usage: "y or n", ParseArguments: once(option.ParseOneArgument(&r.TrainingPreference, option.AcceptOneOf("y", "n")))},
		{Name: "from", Usage: when, ParseArguments: option.ParseOneArgument(&r.From, option.AcceptNonEmptyString)},
		{Name: "until", Usage: when, ParseArguments: option.ParseOneArgument(&r.Until, option.AcceptNonEmptyString)},
		{Name: "hosts", Usage: "one or more hosts, for example shop.example.com", ParseArguments: option.ParseManyArguments(&r.Hosts)},
		{Name: "reason", Usage: "a text in quotes", ParseArguments: option.ParseOneArgument(&r.Reason, option.AcceptNonEmptyString)},
		{Name: "owner", Usage: "a text in quotes", ParseArguments: option.ParseOneArgument(&r.Owner, option.AcceptNonEmptyString)},
		{Name: "ticket", Usage: "a text in quotes", ParseArguments: option.ParseOneArgument(&r.Ticket, option.AcceptNonEmptyString)},
	}
	return option.ReadBlock(d, options, func() error {
		_, err := managed.ParseWindow(r.From, r.Until)
		return addRuleName(r, err)
	}, func() error {
		switch {
		case len(r.For) == 0 && r.ContentUsage+r.ContentSignal+r.TrainingPreference == "":
			return addRuleName(r, errors.New("the rule names no crawler; add for with a product token, a class, for example ai_training, or *"))
		case says == 0:
			return addRuleName(r, errors.New("the rule has no effect; add disallow or allow, optionally with paths"))
		}
		return nil
	})
}

// addRuleName adds the name of a rule to an error, which may be nil.
func addRuleName(r *Rule, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Name(), err)
	}
	return err
}

// parsePaths parses the block of paths of the last rule.
func (h *Handler) parsePaths(d *caddyfile.Dispenser) error {
	rule, begin := &h.Rules[len(h.Rules)-1], *d
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		rule.Paths = append(append(rule.Paths, d.Val()), d.RemainingArgs()...)
	}
	if len(rule.Paths) == 0 && d.Val() == "}" {
		return begin.Err("the block has no path; without a block the rule applies to the whole site")
	}
	return nil
}

// addCrawlDelay parses the arguments of crawl_delay, and adds the rule.
func (h *Handler) addCrawlDelay(args []string) error {
	if len(args) != 2 {
		return option.ErrCount
	}
	if managed.CheckCrawlDelay(args[1]) != nil {
		return option.ErrValue
	}
	h.Rules = append(h.Rules, Rule{For: args[:1], CrawlDelay: args[1]})
	return nil
}

// These are descriptions of the arguments of preferences.
const (
	usageWords  = "perhaps a path, and uses such as train-ai=n, search=y"
	signalWords = "uses such as search=yes, ai-train=no"
)

// newPreferenceParser returns a parser that adds a rule about all crawlers. field returns the field of
// the rule that holds the preference.
func (h *Handler) newPreferenceParser(field func(*Rule) *string) func([]string) error {
	return func(args []string) error {
		h.Rules = append(h.Rules, Rule{})
		return newJoinParser(field(&h.Rules[len(h.Rules)-1]))(args)
	}
}

// newJoinParser returns a parser that joins its arguments, because spaces may follow the commas of a
// preference.
func newJoinParser(into *string) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return option.ErrCount
		}
		*into = strings.Join(args, " ")
		return nil
	}
}

// setTraining parses the arguments of training_preference, and adds the rule.
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

// newAppendParser returns a parser that appends its only argument to into.
func newAppendParser(into *[]string) func([]string) error {
	return func(args []string) error {
		if len(args) != 1 {
			return option.ErrCount
		}
		*into = append(*into, args[0])
		return nil
	}
}

// setStaging parses the arguments of staging.
func (h *Handler) setStaging(args []string) error {
	h.Staging, h.StagingHosts = true, args
	return nil
}

// guardOnlyOptions returns the options that only robots_guard has. Within robots_txt, each is an
// error that says where to write it.
func guardOnlyOptions() []option.Option {
	own := option.OptionNames(new(Handler).options())
	others := slices.DeleteFunc(caddymodule.GuardOptions(), func(o option.Option) bool { return slices.Contains(own, o.Name) })
	return option.MisplacedOptions(others, "of the directive robots_guard; write the option into robots_guard { ... } of the site")
}
