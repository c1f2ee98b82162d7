package caddymodule

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("robots_guard", parseCaddyfile)
	// Before redirects, rewrites, caches and authentication, so that what is
	// judged is what the crawler asked for.
	httpcaddyfile.RegisterDirectiveOrder("robots_guard", httpcaddyfile.Before, "redir")
}

// parseCaddyfile reads the directive. See UnmarshalCaddyfile for the syntax.
func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	var p handlerParser
	if err := p.parse(h.Dispenser); err != nil {
		return nil, err
	}
	if p.onViolation != nil {
		handler, err := httpcaddyfile.ParseSegmentAsSubroute(h.WithDispenser(p.onViolation))
		if err != nil {
			return nil, err
		}
		p.handler.OnViolation = handler.(*caddyhttp.Subroute).Routes
		if len(p.handler.OnViolation) == 0 {
			return nil, p.onViolation.Err("on_violation needs at least one directive, such as respond 402")
		}
	}
	if err := p.handler.Validate(); err != nil {
		return nil, h.WrapErr(err)
	}
	return &p.handler, nil
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	robots_guard [<matcher>] [monitor|enforce] {
//	    source        server|<url>|file <path>
//	    fetch_timeout <duration>
//	    fetch_wait    <duration>
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
//	    status        <code>
//	    on_violation {
//	        <directives...>
//	    }
//	}
//
// on_violation is only read as part of a Caddyfile, since its directives need
// the rest of it.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	var p handlerParser
	if err := p.parse(d); err != nil {
		return err
	}
	if p.onViolation != nil {
		return d.Err("on_violation can only stand in a site of a Caddyfile")
	}
	if err := p.handler.Validate(); err != nil {
		return d.WrapErr(err)
	}
	*h = p.handler
	return nil
}

// handlerParser reads the tokens of one directive.
type handlerParser struct {
	handler     Handler
	onViolation *caddyfile.Dispenser
	seen        map[string]bool
}

func (p *handlerParser) parse(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if d.NextArg() {
		switch mode := d.Val(); mode {
		case modeMonitor, modeEnforce:
			p.handler.Mode = mode
		default:
			return d.Errf("unknown mode %q; use monitor or enforce", mode)
		}
	}
	if d.NextArg() {
		return d.Errf("unexpected argument %q; options stand in a block below the directive", d.Val())
	}
	p.seen = make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		if p.seen[name] && name != "exempt" && name != "only_log" {
			return d.Errf("%s is set twice; keep one", name)
		}
		p.seen[name] = true
		if err := p.subdirective(d, name); err != nil {
			return err
		}
		if name != "on_violation" {
			if nesting := d.Nesting(); d.NextBlock(nesting) {
				return d.Errf("%s takes no block", name)
			}
		}
	}
	return nil
}

// subdirectives lists what may stand in the block, for an error message.
const subdirectives = "source, fetch_timeout, fetch_wait, ttl, grace, change_guard, unreachable, merge_slashes, allow_private, " +
	"wildcard, exempt, only_log, spoofed, status and on_violation"

// usage tells what stands behind a subdirective.
var usage = map[string]string{
	"source":            "server, a URL, or file <path>",
	"fetch_timeout":     "a duration such as 5s",
	"fetch_wait":        "a duration such as 250ms",
	"ttl":               "a minimum and a maximum such as 1m 24h",
	"grace":             "off or a duration such as 24h",
	"change_guard":      "off or a duration such as 6h",
	"unreachable":       "last_good, allow, disallow or disallow_google",
	"merge_slashes":     "on or off",
	"allow_private":     "on or off",
	"wildcard":          "one or more classes such as search",
	"exempt":            "one or more product tokens or classes such as Googlebot or monitor",
	"exempt verified":   "one or more product tokens or classes such as Googlebot or search",
	"only_log verified": "one or more product tokens or classes such as Googlebot or search",
	"only_log":          "one or more product tokens or classes such as Bingbot or search",
	"status":            "a status code such as 403",
	"spoofed":           "judge, block or log",
	"policies":          "a number such as 10000",
	"verify":            "on or off, or a block of options",
	"crawler":           "a product token and a block of options",
	"class":             "a class such as ai_training",
	"fallback":          "one or more product tokens such as Googlebot",
	"ranges":            "official, configured or off",
	"rdns":              "on or off; that of a crawler takes one or more domains such as crawler.example.com",
	"resolver":          "the address of a DNS server such as 192.0.2.53",
	"web_bot_auth":      "on or off; that of a crawler takes an https URL",

	"ranges of a crawler": "url and one or more https URLs, or file and one or more paths",
	"storage":             "on or off",
	"retention":           "a duration such as 30d",
}

func (p *handlerParser) subdirective(d *caddyfile.Dispenser, name string) (err error) {
	h := &p.handler
	switch name {
	case "source":
		h.Source, err = parseSource(d)
	case "fetch_timeout":
		h.FetchTimeout, err = parseDuration(d)
	case "fetch_wait":
		h.FetchWait, err = parseDuration(d)
	case "ttl":
		h.TTLMin, h.TTLMax, err = parseTTL(d)
	case "grace":
		h.Grace, err = parseGrace(d)
	case "change_guard":
		h.ChangeGuard, err = parseChangeGuard(d)
	case "unreachable":
		h.Unreachable, err = oneOf(d, unreachableLastGood, unreachableAllow, unreachableDisallow, unreachableGoogle)
	case "merge_slashes":
		var merge bool
		merge, err = parseSwitch(d)
		h.KeepSlashes = !merge
	case "allow_private":
		h.AllowPrivate, err = parseSwitch(d)
	case "wildcard":
		h.Wildcard, err = parseWords(d, func(words []string) error { _, err := parseClasses(words); return err })
	case "exempt":
		err = p.parseClients(d, &h.Exempt, &h.ExemptVerified)
	case "only_log":
		err = p.parseClients(d, &h.OnlyLog, &h.OnlyLogVerified)
	case "spoofed":
		h.Spoofed, err = oneOf(d, spoofedJudge, spoofedBlock, spoofedLog)
	case "status":
		h.Status, err = parseStatus(d)
	case "on_violation":
		if d.NextArg() {
			return d.Errf("on_violation takes a block of directives, not %q", d.Val())
		}
		p.onViolation = d.NewFromNextSegment()
	default:
		return d.Errf("unrecognized subdirective %q; known are %s", name, subdirectives)
	}
	return err
}

// parseClients reads one or more words behind "verified" into verified, others
// into claimed. Each of them may stand on one line.
func (p *handlerParser) parseClients(d *caddyfile.Dispenser, claimed, verified *[]string) error {
	name := d.Val()
	words := d.RemainingArgs()
	into := claimed
	if len(words) > 0 && words[0] == identityVerified.String() {
		into, words, name = verified, words[1:], name+" verified"
	}
	switch {
	case len(words) == 0:
		return argErr(d, name)
	case *into != nil:
		return d.Errf("%s is set twice; keep one", name)
	}
	if err := validClients(words); err != nil {
		return d.Errf("%s: %v", name, err)
	}
	*into = words
	return nil
}

func validClients(words []string) error {
	_, err := parseSelector(uaident.Default(), words, false)
	return err
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
