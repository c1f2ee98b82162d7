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
	unreachableAfter = 15 * time.Minute
	// Times for which a change, and a harmful change, is an alert.
	changedHolds = 24 * time.Hour
	turnedHolds  = 7 * 24 * time.Hour
	// leftAfter is the time without a verdict after which a site counts as no longer
	// configured. A reload resets the modes of sites.
	leftAfter = 24 * time.Hour
)

// site is a robots.txt with the sites that share it.
type site struct {
	report.Live
	name  string // the first of them
	title string // all of them, in short
	about string // part of the IDs
	now   time.Time
}

// findAtSites examines the robots.txt of each site. b.mu must be held.
func (b *Book) findAtSites(live map[string]report.Live, now time.Time) (found []finding) {
	b.noteJudged(live, now)
	shared := names(live)
	for _, about := range slices.Sorted(maps.Keys(shared)) {
		named := slices.DeleteFunc(shared[about], func(name string) bool { return now.Sub(b.judged[name]) >= leftAfter })
		if len(named) == 0 {
			continue
		}
		s := site{Live: live[named[0]], name: named[0], title: named[0], about: about, now: now}
		for _, name := range named {
			if l := live[name]; l.Enforces {
				s.Live, s.name = l, name // the most important site
				break
			}
		}
		if s.title = s.name; len(named) > 1 {
			s.title = fmt.Sprintf("%s and %d more", s.name, len(named)-1)
		}
		if s.State != nil {
			found = append(found, s.find()...)
		}
	}
	return found
}

// noteJudged records the time of the last verdict by site. A new site counts as just seen.
// b.mu must be held.
func (b *Book) noteJudged(live map[string]report.Live, now time.Time) {
	for name, l := range live {
		if _, known := b.judged[name]; !known || l.Mode != "" {
			b.judged[name] = now
		}
	}
	maps.DeleteFunc(b.judged, func(name string, _ time.Time) bool { _, known := live[name]; return !known })
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
	if s.State.Good == nil {
		return found
	}
	gone := add(s.gone())
	closes := add(s.closes())
	waits := add(s.waiting())
	if !gone {
		add(s.notProtecting())
	}
	if !gone && !closes && !waits {
		add(s.changed())
	}
	return found
}

func (s *site) unreachable() (finding, bool) {
	if s.State.Failures == 0 {
		return finding{}, false
	}
	return finding{after: unreachableAfter, Alert: Alert{
		ID: idOf(Unreachable, s.about), Kind: Unreachable, Severity: Warning, Since: s.State.FailingSince,
		Title:  "The robots.txt of " + s.title + " cannot be read",
		Detail: sentence(report.Trouble(s.State)) + " Search engines may stop crawling the site.",
		Do:     "See why it is not served, and let the guard read it again.",
		Copy:   s.look(),
	}}, true
}

// gone returns a finding if a file with rules became a file without rules. In enforce the
// finding stays until it is fixed, because nothing is protected.
func (s *site) gone() (finding, bool) {
	now := report.NotProtectingOf(s.State, s.Source)
	if now == nil || now.Cause == report.NoRules {
		return finding{}, false // rules that disallow nothing are the owner's intention
	}
	var before *policy.Version
	for _, v := range s.State.Past {
		if v.Robots.Restricts() {
			before = v
			break
		}
	}
	if before == nil || !s.Enforces && s.now.Sub(before.Until) >= turnedHolds {
		return finding{}, false
	}
	severity, title := Warning, "is gone"
	switch now.Cause {
	case report.WebPage:
		title = "has become a web page"
	case report.Blank:
		title = "has become empty"
	}
	if s.Enforces {
		severity = Critical
	}
	return finding{Alert: Alert{
		ID: idOf(RobotsGone, s.about, version(before), string(now.Cause)), Kind: RobotsGone, Severity: severity, Since: before.Until,
		Title: fmt.Sprintf("The robots.txt of %s %s", s.title, title),
		Detail: fmt.Sprintf("%s Until %s there %s. Nothing is forbidden now.",
			sentence(now.Detail), s.at(before.Until), wereRules(before.Robots.RuleCount())),
		Do:   sentence(now.Cure) + " If this is intended, acknowledge the alert.",
		Copy: s.look(),
	}}, true
}

func (s *site) notProtecting() (finding, bool) {
	now := report.NotProtectingOf(s.State, s.Source)
	if !s.Enforces || now == nil {
		return finding{}, false
	}
	return finding{Alert: Alert{
		ID: idOf(NotProtecting, s.about, string(now.Cause)), Kind: NotProtecting, Severity: Warning, Since: s.State.Good.FirstRead,
		Title:  "Nothing is protected at " + s.title,
		Detail: "The site is in enforce, but " + now.Detail + ".",
		Do:     sentence(now.Cure),
		Copy:   s.look(),
	}}, true
}

// closes returns a finding if a version newly disallows / for search engines without naming
// them. A group that names an engine is the owner's intention.
func (s *site) closes() (finding, bool) {
	good := s.State.Good
	if len(s.State.Past) == 0 || s.now.Sub(good.FirstRead) >= turnedHolds {
		return finding{}, false
	}
	var engines []string
	var by policy.Verdict
	for _, token := range judge.ShutsOutSearch(s.State.Past[0].Robots, good.Robots, judge.Served{Engines: judge.SearchEngines()}).Engines {
		engine := uaident.Default().Lookup(token)
		root := judge.PageOf(engine, "/")
		verdict := root.Verdict(good.Robots, false)
		if judge.Means(verdict.Group.Name, engine) {
			continue
		}
		if engines = append(engines, token); len(engines) == 1 {
			by = verdict
		}
	}
	if len(engines) == 0 {
		return finding{}, false
	}
	return finding{Alert: Alert{
		ID: idOf(RobotsCloses, s.about, version(good)), Kind: RobotsCloses, Severity: Critical, Since: good.FirstRead,
		Title: "The new robots.txt of " + s.title + " shuts out search engines",
		Detail: fmt.Sprintf("Line %d, %q of User-agent: %s, disallows /. The version before allowed it for %s.",
			by.Rule.Line, text.Printable(by.Rule.String()), text.Printable(by.Group.Name), someOf(engines)),
		Do:   "If this is the file of a staging site, restore the right one. If this is intended, acknowledge the alert.",
		Copy: s.look(),
	}}, true
}

func (s *site) waiting() (finding, bool) {
	if !s.HeldUntil.After(s.now) {
		return finding{}, false
	}
	good := s.State.Good
	return finding{Alert: Alert{
		ID: idOf(Waiting, s.about, version(good)), Kind: Waiting, Severity: Warning, Since: good.FirstRead,
		Title: "A change of the robots.txt of " + s.title + " is held back",
		Detail: fmt.Sprintf("The new file disallows pages that search engines were served in the last 24 hours. For these pages the previous file stays in force until %s; the log says which.",
			s.at(s.HeldUntil)),
		Do:   "If this is a mistake, restore the robots.txt. If it is intended, wait, or write this and reload.",
		Copy: "change_guard off",
	}}, true
}

func (s *site) changed() (finding, bool) {
	good := s.State.Good
	if len(s.State.Past) == 0 || s.now.Sub(good.FirstRead) >= changedHolds {
		return finding{}, false
	}
	before := s.State.Past[0]
	detail := fmt.Sprintf("At %s there %s, before that %d.", s.at(good.FirstRead), wereRules(good.Robots.RuleCount()), before.Robots.RuleCount())
	if findings, more := good.Robots.Findings(); len(findings) > 0 {
		detail += fmt.Sprintf(" lint has something to say about it: %d.", len(findings)+more)
	}
	return finding{Alert: Alert{
		ID: idOf(RobotsChanged, s.about, version(before), version(good)), Kind: RobotsChanged, Severity: Info, Since: good.FirstRead,
		Title:  "The robots.txt of " + s.title + " has changed",
		Detail: detail,
		Do:     "Look at the difference. If it is intended, acknowledge the alert.",
		Copy:   "caddy robots-guard status " + quotedWord(s.Authority),
	}}, true
}

// look returns a command that shows the served file, or "" without a URL.
func (s *site) look() string {
	switch s.Source {
	case "server":
		return "curl -i " + quotedWord(s.Authority+"/robots.txt")
	case "url":
		return "curl -i " + quotedWord(s.Authority)
	}
	return ""
}

// at formats a time for a sentence.
func (s *site) at(t time.Time) string { return timeWords(t, s.now) }

func timeWords(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("15:04 UTC on 2 January")
}

// closed reports whether a version disallows / for all crawlers that it does not name.
func closed(v *policy.Version) bool { return !v.Robots.Select(true).Judge("/").Allowed }

// alwaysClosed reports whether all known versions do.
func alwaysClosed(s *policy.State) bool {
	for _, v := range s.Past {
		if !closed(v) {
			return false
		}
	}
	return closed(s.Good)
}

func version(v *policy.Version) string { return ledger.Version(v.Hash).String() }

// sentence makes a sentence of words.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	words = strings.ToUpper(words[:1]) + words[1:]
	if strings.HasSuffix(words, ".") {
		return words
	}
	return words + "."
}

// wereRules formats a number of rules.
func wereRules(n int) string {
	if n == 1 {
		return "was 1 rule"
	}
	return fmt.Sprintf("were %d rules", n)
}

// quotedWord quotes a word for a shell.
func quotedWord(word string) string {
	for _, c := range word {
		if c != '/' && c != ':' && c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return word
}
