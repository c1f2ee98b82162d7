package managed

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// FilePair has the files made by two schedules for some hosts from a time on.
type FilePair struct {
	Hosts         []string  // as in rules, with wildcards; "" for all other hosts
	From          time.Time // zero for now
	Before, After []byte
}

// hostGroup is a set of hosts for which two schedules make the same files.
type hostGroup struct {
	tableBefore, tableAfter     *ruleTable
	exampleBase                 string
	stagingBefore, stagingAfter bool   // staging sites before and after
	host                        string // "" if the files are the same for all hosts
}

// Comparison compares the files of two schedules.
type Comparison struct {
	Before, After *Schedule
	Hosts         []string                 // additional hosts
	Base          func(host string) []byte // known base of a host
	Now           time.Time
	OnlyNow       bool // skips future files
	MaxPairs      int  // maximum number of compared pairs
}

// ForEach calls do for the files that differ, from now until the horizon. left is the number of pairs
// without a comparison. A file that cannot be composed is skipped, because it is not served.
func (c *Comparison) ForEach(do func(FilePair)) (left int) {
	var groups []hostGroup
	hosts := make(map[hostGroup][]string)
	for _, host := range allHosts(c.Before, c.After, c.Hosts) {
		name := host
		if host != "" {
			name = ExampleHost(host)
		}
		g := hostGroup{c.Before.tableOf(name), c.After.tableOf(name), string(c.Base(name)), c.Before.IsStaging(name), c.After.IsStaging(name), ""}
		if g.tableBefore.dependsOnHost || g.tableAfter.dependsOnHost {
			g.host = name
		}
		if hosts[g] == nil {
			groups = append(groups, g)
		}
		hosts[g] = append(hosts[g], host)
	}
	compared := 0
	for _, g := range groups {
		for _, from := range c.changeTimes(&g) {
			if compared == c.MaxPairs {
				left++
				continue
			}
			compared++
			at := from
			if at.IsZero() {
				at = c.Now
			}
			p := FilePair{Hosts: hosts[g], From: from}
			var composed, composes bool
			p.Before, composed = g.tableBefore.textAt(at, g.exampleBase, g.host, g.stagingBefore)
			p.After, composes = g.tableAfter.textAt(at, g.exampleBase, g.host, g.stagingAfter)
			if composed && composes && string(p.Before) != string(p.After) {
				do(p)
			}
		}
	}
	return left
}

// allHosts returns the sorted hosts of both schedules and of more, after "" for all other hosts.
func allHosts(a, b *Schedule, more []string) []string {
	hosts := map[string]bool{"": true}
	for _, s := range []*Schedule{a, b} {
		for host := range s.tableByHost {
			hosts[host] = true
		}
		for rest := range s.tableBySuffix {
			hosts["*."+rest] = true
		}
		for _, host := range s.spec.StagingHosts {
			if host != AllHosts {
				hosts[site.NormalizeHost(host, false)] = true
			}
		}
	}
	for _, host := range more {
		hosts[host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}

// changeTimes returns the times at which a file of a group may change. The first is zero for now.
func (c *Comparison) changeTimes(g *hostGroup) []time.Time {
	turns := []time.Time{{}}
	if c.OnlyNow {
		return turns
	}
	for _, t := range []*ruleTable{g.tableBefore, g.tableAfter} {
		for _, turn := range t.changeTimes {
			if turn.After(c.Now) && turn.Before(c.Now.Add(horizon)) {
				turns = append(turns, turn)
			}
		}
	}
	return sortedTimes(turns)
}

// textAt returns the file at a time. The result is false without a file.
func (t *ruleTable) textAt(at time.Time, base, host string, staging bool) ([]byte, bool) {
	if staging {
		return []byte(Staging), true
	}
	text, err := t.period(at).newPlan().Compose([]byte(base), ExampleHost(host))
	return text, err == nil
}

// SameEffectFor reports whether two schedules have the same effect for some crawlers, for any base. The
// rules about these crawlers and about all crawlers must be equal, and the staging sites too.
func SameEffectFor(a, b *Schedule, crawlers []*uaident.Crawler) bool {
	about := map[string]bool{AnyCrawler: true}
	for _, c := range crawlers {
		for _, name := range groupNamesOf(c) {
			about[strings.ToLower(name)] = true
		}
	}
	return slices.Equal(a.spec.StagingHosts, b.spec.StagingHosts) && maps.Equal(a.encodedRulesFor(about), b.encodedRulesFor(about))
}

// encodedRulesFor returns the rules about some crawlers, encoded.
func (s *Schedule) encodedRulesFor(about map[string]bool) map[string]bool {
	said := make(map[string]bool)
	for i := range s.rules {
		r := s.rules[i]
		r.For = slices.DeleteFunc(slices.Clone(r.tokens), func(name string) bool { return !about[strings.ToLower(name)] })
		if len(r.For) == 0 || r.CrawlDelay+r.ContentUsage+r.ContentSignal != "" {
			continue
		}
		r.ID, r.Reason, r.Owner, r.Ticket, r.At = "", "", "", "", ""
		text, _ := json.Marshal(r.Rule) // see Spec
		said[string(text)] = true
	}
	return said
}

// ListNames returns the names of the lists of rules.
func (s *Schedule) ListNames() (names []string) {
	for _, list := range s.spec.Lists {
		names = append(names, list.Name)
	}
	return names
}

// CountLostRules compares a list with its successor in next. all is the number of rules that have not
// ended at now, and lost the number of these rules that next lacks. Rules with the same name are
// the same rule.
func (s *Schedule) CountLostRules(next *Schedule, list string, now time.Time) (lost, all int) {
	names := make(map[string]bool)
	for i := range next.rules {
		if r := &next.rules[i]; r.list == list {
			names[r.name] = true
		}
	}
	for i := range s.rules {
		r := &s.rules[i]
		if r.list != list || !r.window.Until.IsZero() && !r.window.Until.After(now) {
			continue
		}
		if all++; !names[r.name] {
			lost++
		}
	}
	return lost, all
}

// Difference describes the difference between two schedules. Each line describes an added or removed
// rule, sitemap or line.
func Difference(before, after *Schedule) (lines []string) {
	was, is := before.descriptionLines(), after.descriptionLines()
	for _, sign := range []struct {
		mark     string
		all, old []string
	}{{"- ", was, is}, {"+ ", is, was}} {
		known := make(map[string]bool, len(sign.old))
		for _, line := range sign.old {
			known[line] = true
		}
		for _, line := range sign.all {
			if !known[line] {
				lines = append(lines, sign.mark+line)
			}
		}
	}
	return lines
}

// descriptionLines describes a schedule in lines.
func (s *Schedule) descriptionLines() (lines []string) {
	for i := range s.rules {
		lines = append(lines, s.rules[i].String())
	}
	for _, sitemap := range s.spec.Sitemaps {
		lines = append(lines, "sitemap "+sitemap)
	}
	for _, line := range s.spec.ExtraLines {
		lines = append(lines, "line "+line)
	}
	if s.spec.StagingHosts != nil {
		lines = append(lines, "staging "+strings.Join(s.spec.StagingHosts, " "))
	}
	for i := range lines {
		lines[i] = shortenPlaceholder(lines[i])
	}
	return lines
}

// String describes the rule in one line.
func (r *rule) String() string {
	words := []string{}
	if r.ID != "" {
		words = append(words, r.name+":")
	}
	verb := "disallow"
	switch {
	case r.CrawlDelay != "":
		verb = "crawl_delay " + r.CrawlDelay
	case r.ContentUsage != "":
		verb = "content_usage " + r.ContentUsage
	case r.ContentSignal != "":
		verb = "content_signal " + r.ContentSignal
	case r.Allow:
		verb = "allow"
	}
	words = append(append(append(words, verb), r.For...), r.Paths...)
	if window := r.window.String(); window != "" {
		words = append(words, window)
	}
	if len(r.Hosts) > 0 {
		words = append(words, "at "+strings.Join(r.Hosts, " "))
	}
	text := strings.Join(words, " ")
	for _, note := range []string{r.Reason, r.Owner, r.Ticket} {
		if note != "" {
			text += "; " + note
		}
	}
	return text
}
