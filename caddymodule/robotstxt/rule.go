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

// Rule says what some crawlers may fetch.
type Rule struct {
	// The rule's own name, which stands in the robots.txt above what it adds: up to
	// 64 letters, digits, `-`, `_` and `.`. A rule without one is named by its words,
	// and has no time, host, reason, owner or ticket.
	ID string `json:"id,omitempty"`

	// Product tokens, classes such as `ai_training`, or `*` for those that no other
	// group is for. A token has to be known, or stand behind `token:`. A preference
	// without it is about all crawlers.
	For []string `json:"for,omitempty"`

	// Whether it allows; otherwise it forbids.
	Allow bool `json:"allow,omitempty"`

	// The patterns that it is about. Default: the whole site, and then the
	// crawlers' groups say nothing else.
	Paths []string `json:"paths,omitempty"`

	// The seconds of a `Crawl-delay`. A rule with one neither allows nor forbids.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// The value of a `Content-Usage`: perhaps a path, and of `train-ai`, `ai-use` and
	// `search` each with `=y` or `=n`, such as `/blog train-ai=n, search=y`. A rule
	// with one neither allows nor forbids.
	ContentUsage string `json:"content_usage,omitempty"`

	// The value of a `Content-Signal`: of `search`, `ai-input` and `ai-train` each with
	// `=yes` or `=no`. A rule with one says nothing else.
	ContentSignal string `json:"content_signal,omitempty"`

	// `y` or `n`: whether pages may be used to train models, in every form that operators
	// read: a `Content-Usage`, a `Content-Signal`, and the groups `__usage_ai-training`,
	// `Google-Extended` and `Applebot-Extended`. A rule with one says nothing else.
	TrainingPreference string `json:"training_preference,omitempty"`

	// When the rule begins, by RFC 3339 with a time zone, such as
	// `2026-11-27T00:00:00+01:00`. Default: it is in force already.
	From string `json:"from,omitempty"`

	// When it ends: the first moment at which it is not in force any more. Default:
	// never.
	Until string `json:"until,omitempty"`

	// The hosts that it is for, such as `shop.example.com`, or `*.example.com` for
	// every name with one label more. Default: all of the site.
	Hosts []string `json:"hosts,omitempty"`

	// Why it is there, up to 500 characters in one line. It is not published, nor
	// are the next two.
	Reason string `json:"reason,omitempty"`

	// Who answers for it.
	Owner string `json:"owner,omitempty"`

	// Where it was asked for.
	Ticket string `json:"ticket,omitempty"`

	// Where the rule stands, such as `Caddyfile:12`, for messages. The Caddyfile
	// fills it in.
	At string `json:"at,omitempty"`
}

// schedule returns what the owner wants by the configuration alone.
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

// finish says in a schedule that is being made which hosts are for tests.
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

// knownRegistry returns the registry of the configuration, once that is known.
func (h *Handler) knownRegistry() *uaident.Registry {
	if h.registry == nil {
		return uaident.Default()
	}
	return h.registry
}

// name is what the robots.txt calls the rule.
func (r *Rule) name() string {
	written := rulelist.Rule(*r)
	return written.Name()
}

// noPath refuses a path where crawlers are to be named.
func noPath(names []string) error {
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "/") }); i >= 0 {
		return fmt.Errorf("%q is a path; paths stand in a block behind the crawlers, one a line", names[i])
	}
	return nil
}

// hasHost returns what tells whether a host, or one that a wildcard stands for, is
// among some; nil for any.
func hasHost(hosts []string) func(host string) bool {
	if len(hosts) == 0 {
		return nil
	}
	of := request.HostsOfServer(nil)
	of.Add(hosts)
	above := make(map[string]bool, len(hosts)) // what follows the first label of each
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

// checkHosts makes sure that the hosts of rules are some of the site.
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

// key tells a configuration from others.
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
		return "" // for any host
	}
	return string(text)
}

// nameOf is key for a handler as it stands in the routes.
func nameOf(config json.RawMessage) string {
	var h Handler
	if err := json.Unmarshal(config, &h); err != nil {
		return ""
	}
	h.setDefaults()
	return h.key()
}

// hintOf tells which of some hosts may be meant.
func hintOf(word string, hosts []string) string {
	if near := nearHost(word, hosts); near != "" {
		return near
	}
	if len(hosts) > 5 {
		return fmt.Sprintf("it has %s and %d more", strings.Join(hosts[:5], ", "), len(hosts)-5)
	}
	return "it has " + strings.Join(hosts, ", ")
}

// nearHost asks whether a host is meant that is spelt nearly so, "" if none is.
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
