package alert

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	minUnreachableTime = 15 * time.Minute
	// These are the times for which a change, and a harmful change, is an alert.
	changeAlertDuration        = 24 * time.Hour
	harmfulChangeAlertDuration = 7 * 24 * time.Hour
)

// siteRobots is a robots.txt with the sites that share it. Its methods find the alerts about it.
type siteRobots struct {
	report.SiteState
	name         string // name is the name of the first site, in enforce if possible.
	title        string // title has the names of all sites in short form.
	alertSubject string // alertSubject is a part of the alert IDs.
	now          time.Time
}

// siteAlerts returns the alerts about the robots.txt of each guarded site. live has the sites by
// name.
func siteAlerts(live map[string]report.SiteState, now time.Time) (found []Alert) {
	bySource := make(map[string]*siteRobots)
	sharing := make(map[string]int) // This is the number of sites by source.
	for _, name := range slices.Sorted(maps.Keys(live)) {
		l, source := live[name], name
		if l.Mode == "" {
			continue // The site has no guard in the running configuration.
		}
		if l.Source != "" && l.Source != "server" {
			source = l.Authority
		}
		sharing[source]++
		if s := bySource[source]; s == nil || l.Enforces && !s.Enforces {
			bySource[source] = &siteRobots{SiteState: l, name: name, title: name, alertSubject: source, now: now}
		}
	}
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		s := bySource[source]
		if n := sharing[source]; n > 1 {
			s.title = fmt.Sprintf("%s and %d more", s.name, n-1)
		}
		if s.State != nil {
			found = append(found, s.alerts()...)
		}
	}
	return found
}

// alerts returns the alerts about the robots.txt. A harmful change is not reported again as a
// change.
func (s *siteRobots) alerts() (found []Alert) {
	found = s.unreachableAlerts()
	if s.State.Current == nil {
		return found
	}
	gone := s.rulesGoneAlerts()
	harmful := slices.Concat(gone, s.searchShutOutAlerts(), s.delayedChangeAlerts())
	found = append(found, harmful...)
	if len(gone) == 0 {
		found = append(found, s.notProtectingAlerts()...)
	}
	if len(harmful) == 0 {
		found = append(found, s.changedRulesAlerts()...)
	}
	return found
}

// completeAlert adds the site and the ID to an alert. The ID depends on the kind, the robots.txt
// and subject.
func (s *siteRobots) completeAlert(a Alert, subject ...string) []Alert {
	a.ID, a.Site = newID(a.Kind, append([]string{s.alertSubject}, subject...)...), s.name
	return []Alert{a}
}

func (s *siteRobots) unreachableAlerts() []Alert {
	if s.State.FailureCount == 0 {
		return nil
	}
	return s.completeAlert(Alert{
		Kind: Unreachable, Severity: Warning, Since: s.State.FailingSince,
		Title:         "The robots.txt of " + s.title + " cannot be read",
		Detail:        formatSentence(report.DescribeFetchProblem(s.State)) + " Search engines may stop crawling the site.",
		Remedy:        "Find out why the server does not serve the file. The guard fetches it again by itself.",
		RemedySnippet: s.showCommand(),
	})
}

// rulesGoneAlerts returns an alert if the file had rules and now has none. In the mode enforce the
// alert stays until the owner fixes the file, because nothing is protected. Otherwise it ends after
// a week.
func (s *siteRobots) rulesGoneAlerts() []Alert {
	problem := report.FindProtectionProblem(s.State, s.Source)
	if problem == nil || problem.Cause == report.NoRules {
		return nil // Rules that disallow nothing are the owner's intention.
	}
	i := slices.IndexFunc(s.State.Previous, func(v *policy.Version) bool { return v.Robots.Restricts() })
	if i < 0 {
		return nil
	}
	previous, severity := s.State.Previous[i], Critical
	if !s.Enforces {
		severity = Warning
		if s.now.Sub(previous.ReplacedAt) >= harmfulChangeAlertDuration {
			return nil
		}
	}
	title := "is gone"
	switch problem.Cause {
	case report.RefusedToGuard:
		title = fmt.Sprintf("is refused with status %d", s.State.Current.Status)
	case report.UTF16:
		title = "has become UTF-16, which crawlers cannot read"
	case report.WebPage:
		title = "has become a web page"
	case report.Blank:
		title = "has become empty"
	}
	return s.completeAlert(Alert{
		Kind: RobotsGone, Severity: severity, Since: previous.ReplacedAt,
		Title: fmt.Sprintf("The robots.txt of %s %s", s.title, title),
		Detail: fmt.Sprintf("%s Until %s the file had %s. Nothing is disallowed now.",
			formatSentence(problem.Detail), formatTime(previous.ReplacedAt, s.now), formatRuleCount(previous.Robots.RuleCount())),
		Remedy:        formatSentence(problem.Remedy) + " If this is intended, acknowledge the alert.",
		RemedySnippet: s.showCommand(),
	}, formatVersion(previous), string(problem.Cause))
}

func (s *siteRobots) notProtectingAlerts() []Alert {
	problem := report.FindProtectionProblem(s.State, s.Source)
	if !s.Enforces || problem == nil {
		return nil
	}
	return s.completeAlert(Alert{
		Kind: NotProtecting, Severity: Warning, Since: s.State.Current.FirstFetched,
		Title:         "Nothing is protected at " + s.title,
		Detail:        "The site is in mode enforce, but nothing is blocked: " + problem.Detail + ".",
		Remedy:        formatSentence(problem.Remedy),
		RemedySnippet: s.showCommand(),
	}, string(problem.Cause))
}

// searchShutOutAlerts returns an alert if the file disallows / for search engines that it does not
// name, and an earlier version allowed / for them until less than a week ago. A group that names an
// engine is the owner's intention. Later edits that still disallow / neither end nor repeat the
// alert.
func (s *siteRobots) searchShutOutAlerts() []Alert {
	for _, previous := range s.State.Previous {
		if s.now.Sub(previous.ReplacedAt) >= harmfulChangeAlertDuration {
			break
		}
		if found := s.shutOutSinceAlerts(previous); found != nil {
			return found
		}
	}
	return nil
}

// shutOutSinceAlerts returns an alert if the file disallows / for search engines that it does not
// name and that a previous version allowed.
func (s *siteRobots) shutOutSinceAlerts(previous *policy.Version) []Alert {
	current := s.State.Current
	var engines []string
	var firstVerdict policy.Verdict
	for _, token := range judge.FindShutOut(previous.Robots, current.Robots, judge.ProtectedSearchTraffic{Engines: judge.SearchEngines()}).Engines {
		engine := uaident.Default().Lookup(token)
		rootPage := judge.NewServedPage(engine, "/")
		verdict := rootPage.Verdict(current.Robots, false)
		if judge.NamesCrawler(verdict.Group.Name, engine) {
			continue
		}
		if engines = append(engines, token); len(engines) == 1 {
			firstVerdict = verdict
		}
	}
	if len(engines) == 0 {
		return nil
	}
	return s.completeAlert(Alert{
		Kind: RobotsShutsOutSearch, Severity: Critical, Since: previous.ReplacedAt,
		Title: "The new robots.txt of " + s.title + " shuts out search engines",
		Detail: fmt.Sprintf("Line %d, %q in the group User-agent: %s, disallows /. An earlier version allowed / for %s.",
			firstVerdict.Rule.Line, text.Printable(firstVerdict.Rule.String()), text.Printable(firstVerdict.Group.Name), joinNames(engines)),
		Remedy:        "If this file belongs to a staging site, restore the robots.txt of this site. If it is intended, acknowledge the alert.",
		RemedySnippet: s.showCommand(),
	}, formatVersion(previous))
}

func (s *siteRobots) delayedChangeAlerts() []Alert {
	if !s.HeldUntil.After(s.now) {
		return nil
	}
	current := s.State.Current
	return s.completeAlert(Alert{
		Kind: ChangeDelayed, Severity: Warning, Since: current.FirstFetched,
		Title: "A change of the robots.txt of " + s.title + " is held back",
		Detail: fmt.Sprintf("The new file disallows pages that search engines were served in the last 24 hours. For these pages the previous file stays in force until %s. The log lists them.",
			formatTime(s.HeldUntil, s.now)),
		Remedy:        "If the change is a mistake, restore the robots.txt. If you want it now, add this line to robots_guard of the site and reload.",
		RemedySnippet: "change_guard off",
	}, formatVersion(current))
}

// changedRulesAlerts returns an alert if the rules changed within the last day. A change of comments
// or Sitemap lines only is no alert.
func (s *siteRobots) changedRulesAlerts() []Alert {
	current := s.State.Current
	if len(s.State.Previous) == 0 || s.now.Sub(current.FirstFetched) >= changeAlertDuration {
		return nil
	}
	rules := current.Robots.RulesDigest()
	i := slices.IndexFunc(s.State.Previous, func(v *policy.Version) bool { return v.Robots.RulesDigest() != rules })
	if i < 0 || s.now.Sub(s.State.Previous[i].ReplacedAt) >= changeAlertDuration {
		return nil
	}
	previous := s.State.Previous[i]
	detail := fmt.Sprintf("Since %s the file has %s, before that it had %d.", formatTime(previous.ReplacedAt, s.now), formatRuleCount(current.Robots.RuleCount()), previous.Robots.RuleCount())
	if findings, _ := current.Robots.Findings(); len(findings) > 0 {
		detail += " lint reports findings." // Their number is unknown, because lint checks more than the parser.
	}
	return s.completeAlert(Alert{
		Kind: RobotsChanged, Severity: Info, Since: previous.ReplacedAt,
		Title:         "The robots.txt of " + s.title + " has changed",
		Detail:        detail,
		Remedy:        "Check the change with this command. If it is intended, acknowledge the alert.",
		RemedySnippet: "caddy robots-guard status " + shellQuote(s.Authority),
	}, formatVersion(previous), ledger.Version(rules).String())
}

// showCommand returns a command that shows the served file, or "" if the file has no URL.
func (s *siteRobots) showCommand() string {
	switch s.Source {
	case "server":
		return "curl -i " + shellQuote(s.Authority+"/robots.txt")
	case "url":
		return "curl -i " + shellQuote(s.Authority)
	}
	return ""
}

// disallowsAll reports whether a version disallows / for all crawlers without a group of their own.
func disallowsAll(v *policy.Version) bool { return !v.Robots.Select(true).Judge("/").Allowed }

// alwaysDisallowedAll reports whether all known versions disallow / for all crawlers without a
// group of their own.
func alwaysDisallowedAll(s *policy.State) bool {
	return disallowsAll(s.Current) && !slices.ContainsFunc(s.Previous, func(v *policy.Version) bool { return !disallowsAll(v) })
}

func formatVersion(v *policy.Version) string { return ledger.Version(v.Hash).String() }

// formatRuleCount returns a number of rules, such as "3 rules".
func formatRuleCount(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}
