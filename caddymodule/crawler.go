package caddymodule

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// Crawler adds a crawler to the registry, or changes the options of a registered crawler.
// An option that is not set keeps the value of the registry.
type Crawler struct {
	// The product token, as in the User-agent line of a robots.txt.
	Token string `json:"token"`

	// The operator of the crawler. Crawlers of one operator may have the same signing agent.
	// Default for a new crawler: its token.
	Operator string `json:"operator,omitempty"`

	// The class, such as `ai_training`. Default for a new crawler: `crawler`.
	Class string `json:"class,omitempty"`

	// The tokens of groups that apply to the crawler if no group names the crawler.
	Fallback []string `json:"fallback,omitempty"`

	// Whether the `*` group applies to the crawler, whatever the `wildcard` option of a site
	// says. Default: by its class.
	Wildcard *bool `json:"wildcard,omitempty"`

	// Lists of the crawler's addresses, in addition to the lists of the registry.
	Ranges []CrawlerRanges `json:"ranges,omitempty"`

	// Domains for verification by reverse DNS, in addition to the domains of the registry. The host
	// name of the crawler's address must end with one of the domains.
	RDNS []string `json:"rdns,omitempty"`

	// The https URL of the signing agent of the crawler (Web Bot Auth): its origin, or its
	// key directory at `/.well-known/http-message-signatures-directory`.
	WebBotAuth string `json:"web_bot_auth,omitempty"`
}

// CrawlerRanges is a URL or a file with an address list.
type CrawlerRanges struct {
	// An https URL.
	URL string `json:"url,omitempty"`

	// The path of a file.
	File string `json:"file,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place if the file does not exist.
	CaddyfileLine string `json:"at,omitempty"`
}

// applyCrawlerChanges returns a registry in which the crawlers were added or changed.
func applyCrawlerChanges(registry *uaident.Registry, changes []Crawler) (*uaident.Registry, error) {
	if len(changes) == 0 {
		return registry, nil
	}
	crawlers := make([]uaident.Crawler, len(changes))
	for i, change := range changes {
		var err error
		if crawlers[i], err = change.registryEntry(registry); err != nil {
			return nil, err
		}
	}
	return registry.WithCrawlers(crawlers...)
}

// registryEntry returns the changed entry of the crawler in the registry, or a new entry.
func (c *Crawler) registryEntry(registry *uaident.Registry) (uaident.Crawler, error) {
	entry := uaident.Crawler{Token: c.Token, Operator: c.Token, Class: uaident.GenericCrawler}
	if known := registry.Lookup(c.Token); known != nil {
		entry = *known
	}
	entry.Operator = cmp.Or(c.Operator, entry.Operator)
	if c.Class != "" {
		class, ok := uaident.ParseClass(c.Class)
		if !ok || class == uaident.Browser {
			return entry, fmt.Errorf("crawler %s: %q is not a class of a crawler; %s", c.Token, c.Class, judge.SuggestClass(c.Class))
		}
		entry.Class = class
		// A crawler of such a class does not fetch for a person.
		entry.UserTriggered = entry.UserTriggered && !class.WildcardApplies()
	}
	if c.Fallback != nil {
		entry.Fallback = c.Fallback
	}
	if c.Wildcard != nil {
		entry.Wildcard = uaident.WildcardOff
		if *c.Wildcard {
			entry.Wildcard = uaident.WildcardOn
		}
	}
	if c.WebBotAuth != "" {
		if _, ok := botauth.NormalizeOrigin(c.WebBotAuth); !ok || !strings.HasPrefix(c.WebBotAuth, "https://") {
			return entry, fmt.Errorf("crawler %s: web_bot_auth %q is not an https URL of a signing agent; give its origin, such as https://bot.example, "+
				"or its directory, https://bot.example/.well-known/http-message-signatures-directory", c.Token, c.WebBotAuth)
		}
		entry.Verification.WebBotAuth = c.WebBotAuth
	}
	return entry, nil
}

// UnmarshalCaddyfile parses the block of a crawler. An error names the line of the option that
// makes the crawler invalid.
func (c *Crawler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	valid := func() error { _, err := c.registryEntry(uaident.Default()); return err }
	return option.ReadBlock(d, c.Options(), valid, valid)
}

// Options returns the options in the block of a crawler.
func (c *Crawler) Options() []option.Option {
	return []option.Option{
		{Name: "operator", Usage: "a name, for example Acme", ParseArguments: option.ParseOneArgument(&c.Operator, option.AcceptAnyString)},
		{Name: "class", Usage: "a class, for example ai_training", ParseArguments: option.ParseOneArgument(&c.Class, option.AcceptAnyString)},
		{Name: "fallback", Usage: "one or more product tokens, for example Googlebot", ParseArguments: option.ParseManyArguments(&c.Fallback)},
		{Name: "wildcard", Usage: "on or off", ParseArguments: func(args []string) error {
			c.Wildcard = new(bool)
			return option.ParseOneArgument(c.Wildcard, option.ParseOnOff)(args)
		}},
		{Name: "ranges", Usage: "url and one or more https URLs, or file and one or more paths", ParseArguments: c.setRanges, SetLine: c.setMissingRangeLines},
		{Name: "rdns", Usage: "one or more domains, for example crawler.example.com", ParseArguments: option.ParseManyArguments(&c.RDNS)},
		{Name: "web_bot_auth", Usage: "an https URL", ParseArguments: option.ParseOneArgument(&c.WebBotAuth, option.AcceptAnyString)},
	}
}

func (c *Crawler) setRanges(args []string) error {
	if len(args) < 2 {
		return option.ErrCount
	}
	for _, arg := range args[1:] {
		list, ok := map[string]CrawlerRanges{"url": {URL: arg}, "file": {File: arg}}[args[0]]
		if !ok {
			return option.ErrValue
		}
		c.Ranges = append(c.Ranges, list)
	}
	return nil
}

// setMissingRangeLines records the Caddyfile line of address lists whose file is missing, for error
// messages.
func (c *Crawler) setMissingRangeLines(d *caddyfile.Dispenser) {
	for i := range c.Ranges {
		if r := &c.Ranges[i]; r.isMissing() && r.CaddyfileLine == "" {
			r.CaddyfileLine = option.CaddyfileLine(d)
		}
	}
}

func (r *CrawlerRanges) isMissing() bool { return r.File != "" && option.IsFileMissing(r.File) }

// addRangeLines adds the recorded Caddyfile line of a missing address list to an error about that
// file.
func addRangeLines(crawlers []Crawler, err error) error {
	var missing []CrawlerRanges
	for _, c := range crawlers {
		for _, r := range c.Ranges {
			if r.CaddyfileLine != "" && r.isMissing() {
				missing = append(missing, r)
			}
		}
	}
	if err == nil || len(missing) == 0 {
		return err
	}
	if len(missing) == 1 {
		return option.AddCaddyfileLine(missing[0].CaddyfileLine, err)
	}
	places := make([]string, len(missing))
	for i, r := range missing {
		is := ""
		if i == 0 {
			is = " is named"
		}
		places[i] = r.File + is + " at " + r.CaddyfileLine
	}
	return fmt.Errorf("%w; %s", err, option.JoinWords(places, "and"))
}
