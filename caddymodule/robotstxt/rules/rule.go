// Package rules has the configuration of a rule about crawlers, for robots_txt and for lists of rules.
package rules

import "strings"

// Rule describes access to pages, or their use, for some crawlers.
type Rule struct {
	// The name of the rule: up to 64 letters, digits, `-`, `_` and `.`. The robots.txt has it in a
	// comment. A rule without a name has no time, host, reason, owner or ticket.
	ID string `json:"id,omitempty"`

	// Product tokens, classes such as `ai_training`, or `*` for crawlers without their own group. An
	// unknown token needs the prefix `token:`. Without this field, a preference applies to all
	// crawlers.
	For []string `json:"for,omitempty"`

	// Whether the rule allows paths. Otherwise the rule disallows the paths.
	Allow bool `json:"allow,omitempty"`

	// The path patterns. Default: the whole site. The crawlers' groups then have no other rules.
	Paths []string `json:"paths,omitempty"`

	// The seconds of a `Crawl-delay`. A rule with a delay has no paths.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// The value of a `Content-Usage`: an optional path, and `train-ai`, `ai-use` or `search` with
	// `=y` or `=n`, for example `/blog train-ai=n, search=y`. The rule does not allow or disallow
	// paths.
	ContentUsage string `json:"content_usage,omitempty"`

	// The value of a `Content-Signal`: `search`, `ai-input` or `ai-train` with `=yes` or `=no`. The
	// rule has no other effect.
	ContentSignal string `json:"content_signal,omitempty"`

	// `y` or `n`: whether pages may be used to train models. The rule adds every form that
	// operators read: a `Content-Usage`, a `Content-Signal`, and the groups `__usage_ai-training`,
	// `Google-Extended` and `Applebot-Extended`. The rule has no other effect.
	TrainingPreference string `json:"training_preference,omitempty"`

	// The start of the rule in RFC 3339 format with a time zone, for example
	// `2026-11-27T00:00:00+01:00`. Default: in force already.
	From string `json:"from,omitempty"`

	// The end of the rule: the first time at which the rule is not in force. Default: never.
	Until string `json:"until,omitempty"`

	// The hosts of the rule, for example `shop.example.com`. `*.example.com` matches names with
	// exactly one more label. Default: all hosts of the site.
	Hosts []string `json:"hosts,omitempty"`

	// The reason for the rule, one line of at most 500 characters. The reason, the owner and the
	// ticket are not published.
	Reason string `json:"reason,omitempty"`

	// The person or team responsible for the rule.
	Owner string `json:"owner,omitempty"`

	// The ticket that requested the rule.
	Ticket string `json:"ticket,omitempty"`

	// The position of the rule, for example `Caddyfile:12`, for messages. Set by the Caddyfile
	// adapter.
	At string `json:"at,omitempty"`
}

// Name returns the name of the rule in the robots.txt and in messages. A rule without an ID is named by
// its Caddyfile words without paths.
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
