package rulelist

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Rule is a rule as written in a Caddyfile or in a list.
type Rule struct {
	ID            string
	For           []string
	Allow         bool
	Paths         []string // empty for the whole site
	CrawlDelay    string
	ContentUsage  string
	ContentSignal string
	// TrainingPreference is y or n. Such a rule sets the preference in every form.
	TrainingPreference string
	From               string
	Until              string
	Hosts              []string
	Reason             string
	Owner              string
	Ticket             string
	At                 string // position in the source
}

// maxNote is the maximum length of a reason, an owner or a ticket, in characters.
const maxNote = 500

var validID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Managed converts the rule for package managed. Errors do not include the name of the rule.
func (r *Rule) Managed() (rule managed.Rule, err error) {
	rule = managed.Rule{ID: r.Name(), For: r.For, Allow: r.Allow, Paths: r.Paths, Delay: r.CrawlDelay,
		Usage: r.ContentUsage, Signal: r.ContentSignal, Hosts: r.Hosts, Reason: r.Reason, Owner: r.Owner, Ticket: r.Ticket, At: r.At}
	switch {
	case r.CrawlDelay != "" && (len(r.Paths) > 0 || r.Allow):
		return rule, errors.New("a rule with a delay can say nothing else")
	case r.ContentUsage+r.ContentSignal != "" && (len(r.Paths) > 0 || r.Allow || r.CrawlDelay != "" || r.ContentUsage != "" && r.ContentSignal != ""):
		return rule, errors.New("a rule with a preference can say nothing else; write another rule for the other")
	case r.TrainingPreference != "" && (len(r.For)+len(r.Paths) > 0 || r.Allow || r.CrawlDelay+r.ContentUsage+r.ContentSignal != ""):
		return rule, errors.New("a rule with training_preference is about all crawlers and can say nothing else")
	case r.TrainingPreference != "" && r.TrainingPreference != "y" && r.TrainingPreference != "n":
		return rule, fmt.Errorf("training_preference %q is neither y nor n", r.TrainingPreference)
	case r.ID != "" && !validID.MatchString(r.ID):
		return rule, fmt.Errorf("%q cannot be a rule's name; use up to 64 letters, digits, dots, dashes and underscores", r.ID)
	case r.ID == "" && (r.From != "" || r.Until != "" || len(r.Hosts) > 0 || r.Reason+r.Owner+r.Ticket != ""):
		return rule, errors.New("a rule with times, hosts or a reason needs an id, by which the robots.txt names it")
	}
	for _, note := range [][2]string{{"reason", r.Reason}, {"owner", r.Owner}, {"ticket", r.Ticket}} {
		if utf8.RuneCountInString(note[1]) > maxNote || strings.ContainsAny(note[1], "\r\n\x00") {
			return rule, fmt.Errorf("%s has to be one line of up to %d characters", note[0], maxNote)
		}
	}
	rule.Window, err = managed.ParseWindow(r.From, r.Until)
	return rule, err
}

// Name returns the name of the rule in the robots.txt. A rule without an ID is named by its Caddyfile
// words without paths.
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

// Compile converts rules for package managed. Errors have the name of the rule and its position in a
// list.
func Compile(rules []Rule) ([]managed.Rule, error) {
	all := make([]managed.Rule, 0, len(rules))
	known := make(map[string]*Rule, len(rules))
	for i := range rules {
		r := &rules[i]
		rule, err := r.Managed()
		if first := known[r.ID]; err == nil && first != nil {
			err = errors.New("there are two rules of that name; give each its own")
		}
		if err != nil {
			return nil, &managed.RuleError{Rule: rule.ID, At: r.At, Err: err}
		}
		if r.ID != "" {
			known[r.ID] = r
		}
		if r.TrainingPreference == "" {
			all = append(all, rule)
		} else {
			all = append(all, inEveryForm(rule, r.TrainingPreference == "y")...)
		}
	}
	return all, nil
}

// forms returns the number of rules that Compile makes from the rule.
func (r *Rule) forms() int {
	if r.TrainingPreference != "" {
		return 3
	}
	return 1
}

// inEveryForm returns the rules for a training preference. The forms are Content-Usage,
// Content-Signal, and the groups that operators interpret as a preference.
func inEveryForm(rule managed.Rule, yes bool) []managed.Rule {
	usage, signal, groups := rule, rule, rule
	usage.Usage, signal.Signal, groups.Allow = "train-ai=n", "ai-train=no", yes
	if yes {
		usage.Usage, signal.Signal = "train-ai=y", "ai-train=yes"
	}
	groups.For = []string{judge.MeantToken + policy.TrainingToken, "Google-Extended", "Applebot-Extended"}
	return []managed.Rule{usage, signal, groups}
}
