package robotstxt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/rulelist"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Rule describes access to pages, or their use, for some crawlers.
type Rule struct {
	// The name of the rule: up to 64 letters, digits, `-`, `_` and `.`. The robots.txt has it in a
	// comment. A rule without a name has no time, host, reason, owner or ticket.
	ID string `json:"id,omitempty"`

	// Product tokens, classes such as `ai_training`, or `*` for crawlers without their own group. An
	// unknown token needs the prefix `token:`. Without this field, a preference applies to all
	// crawlers.
	For []string `json:"for,omitempty"`

	// Whether the rule allows paths. Otherwise it disallows them.
	Allow bool `json:"allow,omitempty"`

	// The path patterns. Default: the whole site. The crawlers' groups then have no other rules.
	Paths []string `json:"paths,omitempty"`

	// The seconds of a `Crawl-delay`. Such a rule has no paths.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// The value of a `Content-Usage`: an optional path, and `train-ai`, `ai-use` or `search` with
	// `=y` or `=n`, such as `/blog train-ai=n, search=y`. Such a rule does not allow or disallow
	// paths.
	ContentUsage string `json:"content_usage,omitempty"`

	// The value of a `Content-Signal`: `search`, `ai-input` or `ai-train` with `=yes` or `=no`. Such
	// a rule has no other effect.
	ContentSignal string `json:"content_signal,omitempty"`

	// `y` or `n`: whether pages may be used to train models. The rule adds every form that operators
	// read: a `Content-Usage`, a `Content-Signal`, and the groups `__usage_ai-training`,
	// `Google-Extended` and `Applebot-Extended`. Such a rule has no other effect.
	TrainingPreference string `json:"training_preference,omitempty"`

	// The start of the rule in RFC 3339 format with a time zone, such as `2026-11-27T00:00:00+01:00`.
	// Default: in force already.
	From string `json:"from,omitempty"`

	// The end of the rule: the first time at which the rule is not in force. Default: never.
	Until string `json:"until,omitempty"`

	// The hosts of the rule, such as `shop.example.com`. `*.example.com` matches names with exactly
	// one more label. Default: all hosts of the site.
	Hosts []string `json:"hosts,omitempty"`

	// The reason for the rule, one line of at most 500 characters. The reason, the owner and the
	// ticket are not published.
	Reason string `json:"reason,omitempty"`

	// The person or team that is responsible for the rule.
	Owner string `json:"owner,omitempty"`

	// The ticket that requested the rule.
	Ticket string `json:"ticket,omitempty"`

	// The position of the rule, such as `Caddyfile:12`, for messages. The Caddyfile adapter sets it.
	At string `json:"at,omitempty"`
}

// schedule returns the schedule of the configuration's own rules, without lists.
func (h *Handler) schedule() (*managed.Schedule, error) {
	rules, err := rulelist.Compile(h.written())
	if err != nil {
		return nil, err
	}
	s, err := managed.NewSchedule(h.knownRegistry(), rules, h.Sitemaps, h.Lines)
	if err == nil {
		h.finish(s)
	}
	return s, err
}

// finish adds the staging hosts to a new schedule.
func (h *Handler) finish(s *managed.Schedule) {
	if h.Staging {
		s.Stage(h.StagingHosts...)
	}
}

// written returns the rules of the configuration.
func (h *Handler) written() (rules []rulelist.Rule) {
	for _, r := range h.Rules {
		rules = append(rules, rulelist.Rule(r))
	}
	return rules
}

// knownRegistry returns the registry of the configuration, or the default registry.
func (h *Handler) knownRegistry() *uaident.Registry {
	if h.registry == nil {
		return uaident.Default()
	}
	return h.registry
}

// name returns the name of the rule in the robots.txt.
func (r *Rule) name() string {
	written := rulelist.Rule(*r)
	return written.Name()
}

// noPath returns an error if a path is among the names of crawlers.
func noPath(names []string) error {
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "/") }); i >= 0 {
		return fmt.Errorf("%q is a path; paths stand in a block behind the crawlers, one a line", names[i])
	}
	return nil
}

// hasHost returns a function that reports whether hosts match a host or a wildcard. It returns nil
// for any host.
func hasHost(hosts []string) func(host string) bool {
	if len(hosts) == 0 {
		return nil
	}
	of := request.HostsOfServer(nil)
	of.Add(hosts)
	above := make(map[string]bool, len(hosts)) // each host without its first label
	for _, host := range hosts {
		_, rest, _ := strings.Cut(request.NormalHost(host, false), ".")
		above[rest] = true
	}
	return func(host string) bool {
		if rest, wildcard := strings.CutPrefix(host, "*."); wildcard && above[request.NormalHost(rest, false)] {
			return true
		}
		label, _ := of.Label(request.NormalHost(host, false))
		return label != judge.OtherName
	}
}

// checkHosts returns an error if a rule has a host that the site does not have.
func (h *Handler) checkHosts(hosts []string) error {
	has := hasHost(hosts)
	for i := range h.Rules {
		for _, host := range h.Rules[i].Hosts {
			if has != nil && !has(host) {
				err := fmt.Errorf("%s: this site has no host %q; %s", h.Rules[i].name(), host, hintOf(host, hosts))
				return option.At(h.Rules[i].At, err)
			}
		}
	}
	return nil
}

// key identifies the configuration of a handler.
func (h *Handler) key() string {
	same := *h
	same.Rules, same.WrittenAt, same.ListsAt = slices.Clone(h.Rules), "", nil
	for i := range same.Rules {
		same.Rules[i].At = ""
	}
	if h.Rollout != nil {
		rollout := *h.Rollout
		rollout.WrittenAt, same.Rollout = "", &rollout
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return "" // matches any host
	}
	return string(text)
}

// nameOf returns the key of a handler's configuration in a route.
func nameOf(config json.RawMessage) string {
	var h Handler
	if err := json.Unmarshal(config, &h); err != nil {
		return ""
	}
	h.setDefaults()
	return h.key()
}

// hintOf suggests hosts for an unknown host.
func hintOf(word string, hosts []string) string {
	if near := nearHost(word, hosts); near != "" {
		return near
	}
	if len(hosts) > 5 {
		return fmt.Sprintf("it has %s and %d more", strings.Join(hosts[:5], ", "), len(hosts)-5)
	}
	return "it has " + strings.Join(hosts, ", ")
}

// nearHost suggests a host with a similar name. It returns "" if there is none.
func nearHost(word string, hosts []string) string {
	const most = 4 // edits
	best, distance := "", most
	for _, host := range hosts {
		if d := text.Distance(strings.ToLower(word), strings.ToLower(host), most); d < distance {
			best, distance = host, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}
