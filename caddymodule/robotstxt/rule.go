package robotstxt

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
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

// maxNote bounds reasons, owners and tickets, in characters.
const maxNote = 500

var validID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// schedule returns what the owner wants.
func (h *Handler) schedule() (*managed.Schedule, error) {
	var rules []managed.Rule
	known := make(map[string]bool)
	for i := range h.Rules {
		r := &h.Rules[i]
		rule, err := r.managed()
		if err == nil && r.ID != "" && known[r.ID] {
			err = errors.New("there are two rules of that name; give each its own")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name(), err)
		}
		known[r.ID] = true
		rules = append(rules, rule)
	}
	registry := h.registry
	if registry == nil {
		registry = uaident.Default()
	}
	return managed.NewSchedule(registry, rules, h.Sitemaps, h.Lines)
}

// managed returns the rule as texts are composed of it.
func (r *Rule) managed() (rule managed.Rule, err error) {
	rule = managed.Rule{ID: r.name(), For: r.For, Allow: r.Allow, Paths: r.Paths, Delay: r.CrawlDelay,
		Usage: r.ContentUsage, Signal: r.ContentSignal, Hosts: r.Hosts, At: r.At}
	switch {
	case r.CrawlDelay != "" && (len(r.Paths) > 0 || r.Allow):
		return rule, errors.New("a rule with a delay can say nothing else")
	case r.ContentUsage+r.ContentSignal != "" && (len(r.Paths) > 0 || r.Allow || r.CrawlDelay != "" || r.ContentUsage != "" && r.ContentSignal != ""):
		return rule, errors.New("a rule with a preference can say nothing else; write another rule for the other")
	case r.ID != "" && !validID.MatchString(r.ID):
		return rule, fmt.Errorf("%q cannot be a rule's name; use up to 64 letters, digits, dots, dashes and underscores", r.ID)
	case r.ID == "" && (r.From != "" || r.Until != "" || len(r.Hosts) > 0 || r.Reason+r.Owner+r.Ticket != ""):
		return rule, errors.New("a rule with times, hosts or a reason needs an id, by which the robots.txt names it")
	}
	for what, note := range map[string]string{"reason": r.Reason, "owner": r.Owner, "ticket": r.Ticket} {
		if utf8.RuneCountInString(note) > maxNote || strings.ContainsAny(note, "\r\n\x00") {
			return rule, fmt.Errorf("%s has to be one line of up to %d characters", what, maxNote)
		}
	}
	rule.Window, err = managed.ParseWindow(r.From, r.Until)
	return rule, err
}

// name is what the robots.txt calls the rule: its own name, or its words in a
// Caddyfile without its paths.
func (r *Rule) name() string {
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
	case r.Allow:
		word = "allow"
	}
	return strings.Join(append([]string{word}, r.For...), " ")
}

// checkHosts makes sure that the hosts of rules are some of the site. A snippet may
// stand in several sites; then they are taken together.
func (h *Handler) checkHosts(ctx caddy.Context, app *caddymodule.App) error {
	texts, err := app.Texts(ctx, nameOf)
	if err != nil {
		return err
	}
	hosts := texts.HostsOf(h.key())
	if len(hosts) == 0 {
		return nil // it is for any
	}
	of := request.HostsOfServer(nil)
	of.Add(hosts)
	for i := range h.Rules {
		for _, host := range h.Rules[i].Hosts {
			if label, _ := of.Label(request.NormalHost(host, false)); label == judge.OtherName && !someBelow(host, hosts) {
				return fmt.Errorf("%s: this site has no host %q; %s", h.Rules[i].name(), host, hintOf(host, hosts))
			}
		}
	}
	return nil
}

// key tells a configuration from others.
func (h *Handler) key() string {
	same := *h
	same.Rules = slices.Clone(h.Rules)
	for i := range same.Rules {
		same.Rules[i].At = ""
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

// someBelow reports whether some host is one that a wildcard stands for.
func someBelow(wildcard string, hosts []string) bool {
	of := request.HostsOfServer(nil)
	of.Add([]string{wildcard})
	for _, host := range hosts {
		if label, _ := of.Label(request.NormalHost(host, false)); label != judge.OtherName {
			return true
		}
	}
	return false
}

// hintOf tells which of some hosts may be meant.
func hintOf(word string, hosts []string) string {
	const most = 4 // edits
	best, distance := "", most
	for _, host := range hosts {
		if d := spelling.Distance(strings.ToLower(word), strings.ToLower(host), most); d < distance {
			best, distance = host, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	if len(hosts) > 5 {
		return fmt.Sprintf("it has %s and %d more", strings.Join(hosts[:5], ", "), len(hosts)-5)
	}
	return "it has " + strings.Join(hosts, ", ")
}
