// Package rules has the configuration of a rule about crawlers, for robots_txt and for lists of rules.
package rules

import "strings"

// Rule allows or disallows paths to some crawlers, or says how fetched pages may be used.
type Rule struct {
	// The name of the rule: up to 64 letters, digits, `-`, `_` and `.`. A comment in the robots.txt
	// contains the name. Only a rule with a name can have times, hosts, a reason, an owner and a
	// ticket.
	ID string `json:"id,omitempty"`

	// Product tokens, classes such as `ai_training`, or `*` for crawlers without their own group.
	// Write `token:NewBot` for a token that the registry lacks. A preference without this field
	// applies to all crawlers.
	For []string `json:"for,omitempty"`

	// Whether the rule allows the paths. Otherwise the rule disallows the paths.
	Allow bool `json:"allow,omitempty"`

	// The path patterns. Default: the whole site. The site's own rules then no longer apply to these
	// crawlers.
	Paths []string `json:"paths,omitempty"`

	// The `Crawl-delay` in seconds. A rule with a delay has no paths.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// The value of a `Content-Usage` line: an optional path, followed by `train-ai`, `ai-use` or
	// `search`, each with `=y` or `=n`. Example: `/blog train-ai=n, search=y`. Such a rule does not
	// allow or disallow paths.
	ContentUsage string `json:"content_usage,omitempty"`

	// The value of a `Content-Signal` line: `search`, `ai-input` or `ai-train`, each with `=yes` or
	// `=no`. Such a rule does not allow or disallow paths.
	ContentSignal string `json:"content_signal,omitempty"`

	// Whether pages may be used to train models: `y` or `n`. The rule adds every form of this
	// preference that operators read: a `Content-Usage` line, a `Content-Signal` line, and the
	// groups `__usage_ai-training`, `Google-Extended` and `Applebot-Extended`. Such a rule has no
	// other effect.
	TrainingPreference string `json:"training_preference,omitempty"`

	// The time at which the rule begins, in RFC 3339 format with a time zone, for example
	// `2026-11-27T00:00:00+01:00`. Default: no limit.
	From string `json:"from,omitempty"`

	// The time at which the rule ends, in the same format. Default: no limit.
	Until string `json:"until,omitempty"`

	// The hosts at which the rule applies, for example `shop.example.com`. `*.example.com` matches
	// hosts with exactly one label before `.example.com`. Default: all hosts of the site.
	Hosts []string `json:"hosts,omitempty"`

	// The reason for the rule, one line of at most 500 characters. The reason, the owner and the
	// ticket are not published.
	Reason string `json:"reason,omitempty"`

	// The person or team that is responsible for the rule.
	Owner string `json:"owner,omitempty"`

	// The ticket in which the rule was requested.
	Ticket string `json:"ticket,omitempty"`

	// The place of the rule, such as `Caddyfile:12`, for messages. The Caddyfile adapter sets the
	// place.
	At string `json:"at,omitempty"`
}

// Name returns the name of the rule for the robots.txt and for messages: "rule " and the ID, or
// without an ID the option and the crawlers, as in a Caddyfile.
func (r *Rule) Name() string {
	word := "disallow"
	switch {
	case r.ID != "":
		return "rule " + r.ID
	case r.CrawlDelay != "":
		word = "crawl_delay"
	case r.ContentUsage != "":
		word = "content_usage"
	case r.ContentSignal != "":
		word = "content_signal"
	case r.TrainingPreference != "":
		word = "training_preference " + r.TrainingPreference
	case r.Allow:
		word = "allow"
	}
	return strings.Join(append([]string{word}, r.For...), " ")
}
