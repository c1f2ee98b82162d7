package alert

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// Times for which a change, and a harmful change, is an alert.
	changeAlertDuration        = 24 * time.Hour
	harmfulChangeAlertDuration = 7 * 24 * time.Hour
	// maxVerdictAge is the time without a verdict after which a site counts as no longer
	// configured. A reload resets the modes of sites.
	maxVerdictAge = 24 * time.Hour
)

// site is a robots.txt with the sites that share it.
type site struct {
	report.Live
	name    string // the first of them
	title   string // all of them, in short
	subject string // part of the IDs
	now     time.Time
}

// findInSites examines the robots.txt of each site. b.mu must be held.
func (b *Manager) findInSites(live map[string]report.Live, now time.Time) (found []finding) {
	b.recordVerdicts(live, now)
	sites := sitesBySource(live)
	for _, about := range slices.Sorted(maps.Keys(sites)) {
		active := slices.DeleteFunc(sites[about], func(name string) bool { return now.Sub(b.lastVerdicts[name]) >= maxVerdictAge })
		if len(active) == 0 {
			continue
		}
		s := site{Live: live[active[0]], name: active[0], title: active[0], subject: about, now: now}
		for _, name := range active {
			if l := live[name]; l.Enforces {
				s.Live, s.name = l, name // the most important site
				break
			}
		}
		if s.title = s.name; len(active) > 1 {
			s.title = fmt.Sprintf("%s and %d more", s.name, len(active)-1)
		}
		if s.State != nil {
			found = append(found, s.find()...)
		}
	}
	return found
}

// recordVerdicts records the time of the last verdict by site. A new site counts as just seen.
// b.mu must be held.
func (b *Manager) recordVerdicts(live map[string]report.Live, now time.Time) {
	for name, l := range live {
		if _, known := b.lastVerdicts[name]; !known || l.Mode != "" {
			b.lastVerdicts[name] = now
		}
	}
	maps.DeleteFunc(b.lastVerdicts, func(name string, _ time.Time) bool { _, known := live[name]; return !known })
}

// find returns the findings about a robots.txt.
func (s *site) find() (found []finding) {
	add := func(f finding, ok bool) bool {
		if ok {
			f.Site = s.name
			found = append(found, f)
		}
		return ok
	}
	add(s.unreachable())
	if s.State.Current == nil {
		return found
	}
	isGone := add(s.rulesGone())
	isShutOut := add(s.shutsOutSearch())
	isDelayed := add(s.delayedChange())
	if !isGone {
		add(s.notProtecting())
	}
	if !isGone && !isShutOut && !isDelayed {
		add(s.changed())
	}
	return found
}

func (s *site) unreachable() (finding, bool) {
	if s.State.Failures == 0 {
		return finding{}, false
	}
	return finding{minDuration: minUnreachableTime, Alert: Alert{
		ID: newID(Unreachable, s.subject), Kind: Unreachable, Severity: Warning, Since: s.State.FailingSince,
		Title:         "The robots.txt of " + s.title + " cannot be read",
		Detail:        toSentence(report.Trouble(s.State)) + " Search engines may stop crawling the site.",
		Remedy:        "See why it is not served, and let the guard read it again.",
		RemedySnippet: s.showCommand(),
	}}, true
}

// rulesGone returns a finding if a file with rules became a file without rules. In enforce the
// finding stays until it is fixed, because nothing is protected.
func (s *site) rulesGone() (finding, bool) {
	problem := report.NotProtectingOf(s.State, s.Source)
	if problem == nil || problem.Cause == report.NoRules {
		return finding{}, false // rules that disallow nothing are the owner's intention
	}
	var previous *policy.Version
	for _, v := range s.State.Previous {
		if v.Robots.Restricts() {
			previous = v
			break
		}
	}
	if previous == nil || !s.Enforces && s.now.Sub(previous.ReplacedAt) >= harmfulChangeAlertDuration {
		return finding{}, false
	}
	severity, title := Warning, "is gone"
	switch problem.Cause {
	case report.WebPage:
		title = "has become a web page"
	case report.Blank:
		title = "has become empty"
	}
	if s.Enforces {
		severity = Critical
	}
	return finding{Alert: Alert{
		ID: newID(RobotsGone, s.subject, versionID(previous), string(problem.Cause)), Kind: RobotsGone, Severity: severity, Since: previous.ReplacedAt,
		Title: fmt.Sprintf("The robots.txt of %s %s", s.title, title),
		Detail: fmt.Sprintf("%s Until %s there %s. Nothing is forbidden now.",
			toSentence(problem.Detail), s.timeText(previous.ReplacedAt), ruleCountText(previous.Robots.RuleCount())),
		Remedy:        toSentence(problem.Cure) + " If this is intended, acknowledge the alert.",
		RemedySnippet: s.showCommand(),
	}}, true
}

func (s *site) notProtecting() (finding, bool) {
	problem := report.NotProtectingOf(s.State, s.Source)
	if !s.Enforces || problem == nil {
		return finding{}, false
	}
	return finding{Alert: Alert{
		ID: newID(NotProtecting, s.subject, string(problem.Cause)), Kind: NotProtecting, Severity: Warning, Since: s.State.Current.FirstFetched,
		Title:         "Nothing is protected at " + s.title,
		Detail:        "The site is in enforce, but " + problem.Detail + ".",
		Remedy:        toSentence(problem.Cure),
		RemedySnippet: s.showCommand(),
	}}, true
}

// shutsOutSearch returns a finding if a version newly disallows / for search engines without naming
// them. A group that names an engine is the owner's intention.
func (s *site) shutsOutSearch() (finding, bool) {
	current := s.State.Current
	if len(s.State.Previous) == 0 || s.now.Sub(current.FirstFetched) >= harmfulChangeAlertDuration {
		return finding{}, false
	}
	var engines []string
	var firstVerdict policy.Verdict
	for _, token := range judge.FindShutOut(s.State.Previous[0].Robots, current.Robots, judge.SearchTraffic{Engines: judge.SearchEngines()}).Engines {
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
		return finding{}, false
	}
	return finding{Alert: Alert{
		ID: newID(RobotsShutsOutSearch, s.subject, versionID(current)), Kind: RobotsShutsOutSearch, Severity: Critical, Since: current.FirstFetched,
		Title: "The new robots.txt of " + s.title + " shuts out search engines",
		Detail: fmt.Sprintf("Line %d, %q of User-agent: %s, disallows /. The version before allowed it for %s.",
			firstVerdict.Rule.Line, text.Printable(firstVerdict.Rule.String()), text.Printable(firstVerdict.Group.Name), joinNames(engines)),
		Remedy:        "If this is the file of a staging site, restore the right one. If this is intended, acknowledge the alert.",
		RemedySnippet: s.showCommand(),
	}}, true
}

func (s *site) delayedChange() (finding, bool) {
	if !s.HeldUntil.After(s.now) {
		return finding{}, false
	}
	current := s.State.Current
	return finding{Alert: Alert{
		ID: newID(ChangeDelayed, s.subject, versionID(current)), Kind: ChangeDelayed, Severity: Warning, Since: current.FirstFetched,
		Title: "A change of the robots.txt of " + s.title + " is held back",
		Detail: fmt.Sprintf("The new file disallows pages that search engines were served in the last 24 hours. For these pages the previous file stays in force until %s; the log says which.",
			s.timeText(s.HeldUntil)),
		Remedy:        "If this is a mistake, restore the robots.txt. If it is intended, wait, or write this and reload.",
		RemedySnippet: "change_guard off",
	}}, true
}

func (s *site) changed() (finding, bool) {
	current := s.State.Current
	if len(s.State.Previous) == 0 || s.now.Sub(current.FirstFetched) >= changeAlertDuration {
		return finding{}, false
	}
	previous := s.State.Previous[0]
	detail := fmt.Sprintf("At %s there %s, before that %d.", s.timeText(current.FirstFetched), ruleCountText(current.Robots.RuleCount()), previous.Robots.RuleCount())
	if findings, more := current.Robots.Findings(); len(findings) > 0 {
		detail += fmt.Sprintf(" lint has %d findings.", len(findings)+more)
	}
	return finding{Alert: Alert{
		ID: newID(RobotsChanged, s.subject, versionID(previous), versionID(current)), Kind: RobotsChanged, Severity: Info, Since: current.FirstFetched,
		Title:         "The robots.txt of " + s.title + " has changed",
		Detail:        detail,
		Remedy:        "Look at the difference. If it is intended, acknowledge the alert.",
		RemedySnippet: "caddy robots-guard status " + shellQuote(s.Authority),
	}}, true
}

// showCommand returns a command that shows the served file, or "" without a URL.
func (s *site) showCommand() string {
	switch s.Source {
	case "server":
		return "curl -i " + shellQuote(s.Authority+"/robots.txt")
	case "url":
		return "curl -i " + shellQuote(s.Authority)
	}
	return ""
}

// timeText formats a time for a sentence.
func (s *site) timeText(t time.Time) string { return formatTime(t, s.now) }

func formatTime(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("15:04 UTC on 2 January")
}

// disallowsAll reports whether a version disallows / for all crawlers that it does not name.
func disallowsAll(v *policy.Version) bool { return !v.Robots.Select(true).Judge("/").Allowed }

// alwaysDisallowedAll reports whether all known versions do.
func alwaysDisallowedAll(s *policy.State) bool {
	for _, v := range s.Previous {
		if !disallowsAll(v) {
			return false
		}
	}
	return disallowsAll(s.Current)
}

func versionID(v *policy.Version) string { return ledger.Version(v.Hash).String() }

// toSentence makes a sentence of words.
func toSentence(words string) string {
	if words == "" {
		return ""
	}
	words = strings.ToUpper(words[:1]) + words[1:]
	if strings.HasSuffix(words, ".") {
		return words
	}
	return words + "."
}

// ruleCountText formats a number of rules.
func ruleCountText(n int) string {
	if n == 1 {
		return "was 1 rule"
	}
	return fmt.Sprintf("were %d rules", n)
}

// shellQuote quotes a word for a shell.
func shellQuote(word string) string {
	for _, c := range word {
		if c != '/' && c != ':' && c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return word
}
