package managed

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxNote is the maximum length of a reason, an owner or a ticket, in characters.
const maxNote = 500

var validID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// CheckRule checks everything that needs neither the registry nor other rules, and returns the time of
// the rule. Errors do not include the name of the rule.
func CheckRule(r *Rule) (Window, error) {
	switch {
	case r.CrawlDelay != "" && (len(r.Paths) > 0 || r.Allow):
		return Window{}, errors.New("a rule with a delay cannot have other statements")
	case r.ContentUsage+r.ContentSignal != "" && (len(r.Paths) > 0 || r.Allow || r.CrawlDelay != "" || r.ContentUsage != "" && r.ContentSignal != ""):
		return Window{}, errors.New("a rule with a preference cannot have other statements; write a second rule")
	case r.TrainingPreference != "" && (len(r.For)+len(r.Paths) > 0 || r.Allow || r.CrawlDelay+r.ContentUsage+r.ContentSignal != ""):
		return Window{}, errors.New("a rule with training_preference applies to all crawlers and cannot have other statements")
	case r.TrainingPreference != "" && r.TrainingPreference != "y" && r.TrainingPreference != "n":
		return Window{}, fmt.Errorf("training_preference %q is neither y nor n", r.TrainingPreference)
	case r.ID != "" && !validID.MatchString(r.ID):
		return Window{}, fmt.Errorf("%q cannot be a rule's name; use up to 64 letters, digits, dots, dashes and underscores", r.ID)
	case r.ID == "" && (r.From != "" || r.Until != "" || len(r.Hosts) > 0 || r.Reason+r.Owner+r.Ticket != ""):
		return Window{}, errors.New("a rule with times, hosts or a reason needs an id, by which the robots.txt names it")
	}
	for _, note := range [][2]string{{"reason", r.Reason}, {"owner", r.Owner}, {"ticket", r.Ticket}} {
		if utf8.RuneCountInString(note[1]) > maxNote || strings.ContainsAny(note[1], "\r\n\x00") {
			return Window{}, fmt.Errorf("%s has to be one line of up to %d characters", note[0], maxNote)
		}
	}
	return ParseWindow(r.From, r.Until)
}

// inEveryForm returns the rule, or the rules for its training preference. The forms are Content-Usage,
// Content-Signal, and the groups that operators interpret as a preference.
func inEveryForm(r Rule) []Rule {
	if r.TrainingPreference == "" {
		return []Rule{r}
	}
	yes := r.TrainingPreference == "y"
	r.TrainingPreference = ""
	usage, signal, groups := r, r, r
	usage.ContentUsage, signal.ContentSignal, groups.Allow = "train-ai=n", "ai-train=no", yes
	if yes {
		usage.ContentUsage, signal.ContentSignal = "train-ai=y", "ai-train=yes"
	}
	groups.For = []string{judge.TokenPrefix + policy.TrainingToken, "Google-Extended", "Applebot-Extended"}
	return []Rule{usage, signal, groups}
}
