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

// FilePair is a robots.txt before and after a change, for some hosts and from a time on.
type FilePair struct {
	Hosts         []string  // Hosts are the hosts as the rules name them, with wildcards. "" means all other hosts.
	From          time.Time // The zero time means now.
	Before, After []byte
}

// hostGroup is the key of hosts for which both schedules of a [Comparison] make equal files.
type hostGroup struct {
	tableBefore, tableAfter     *ruleTable
	base                        string
	stagingBefore, stagingAfter bool   // whether the hosts are staging hosts before and after the change
	host                        string // The host is "" if the files are the same for all hosts.
}

// Comparison compares the robots.txt files that two schedules make for the same hosts and bases.
type Comparison struct {
	Before, After *Schedule
	Hosts         []string                 // Hosts are additional hosts to compare.
	Base          func(host string) []byte // Base returns the base of a host, or nil if it is unknown.
	Now           time.Time
	OnlyNow       bool // OnlyNow leaves out files that are served later.
	MaxPairs      int  // maximum number of pairs to compare
}

// ForEachDifference calls do for each pair of different files from now until [horizon]. left is the
// number of pairs beyond MaxPairs, which were not compared. A pair is skipped if a file cannot be
// composed, because such a file is not served.
func (c *Comparison) ForEachDifference(do func(FilePair)) (left int) {
	var groups []hostGroup
	hosts := make(map[hostGroup][]string)
	for _, host := range allHosts(c.Before, c.After, c.Hosts) {
		name := host
		if host != "" {
			name = ExampleHost(host)
		}
		// The rules and staging hosts are looked up by the wildcard itself, because they can name the
		// example host.
		g := hostGroup{c.Before.tableForHost(host), c.After.tableForHost(host), string(c.Base(name)), c.Before.IsStagingHost(host), c.After.IsStagingHost(host), ""}
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
			p.Before, composed = g.tableBefore.compose(at, g.base, g.host, g.stagingBefore)
			p.After, composes = g.tableAfter.compose(at, g.base, g.host, g.stagingAfter)
			if composed && composes && string(p.Before) != string(p.After) {
				do(p)
			}
		}
	}
	return left
}

// allHosts returns "" for hosts without rules of their own, followed by the sorted hosts that a or
// b names and the hosts in more.
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

// changeTimes returns the times at which the rules for the hosts of g change, within the compared
// time span. The first element is the zero time, which means now.
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

// compose returns the robots.txt for a host at a time. ok is false if the file cannot be composed.
func (t *ruleTable) compose(at time.Time, base, host string, staging bool) (text []byte, ok bool) {
	if staging {
		return []byte(Staging), true
	}
	text, err := t.findPeriod(at).compilePlan().Compose([]byte(base), ExampleHost(host))
	return text, err == nil
}

// SameEffectFor reports whether two schedules give some crawlers the same access, whatever the
// base. This is so if both have the same staging hosts, the same allow and disallow rules for these
// crawlers, and the same for the * group.
func SameEffectFor(a, b *Schedule, crawlers []*uaident.Crawler) bool {
	about := map[string]bool{AnyCrawler: true}
	for _, c := range crawlers {
		for _, name := range crawlerGroupNames(c) {
			about[strings.ToLower(name)] = true
		}
	}
	return slices.Equal(a.spec.StagingHosts, b.spec.StagingHosts) && maps.Equal(a.encodeRulesFor(about), b.encodeRulesFor(about))
}

// encodeRulesFor returns the JSON of the allow and disallow rules for the crawlers in about,
// without names and notes. The keys of about are group names in lower case.
func (s *Schedule) encodeRulesFor(about map[string]bool) map[string]bool {
	encoded := make(map[string]bool)
	for i := range s.rules {
		r := s.rules[i]
		r.For = slices.DeleteFunc(slices.Clone(r.tokens), func(name string) bool { return !about[strings.ToLower(name)] })
		if len(r.For) == 0 || r.CrawlDelay+r.ContentUsage+r.ContentSignal != "" {
			continue
		}
		r.ID, r.Reason, r.Owner, r.Ticket, r.At = "", "", "", "", ""
		text, _ := json.Marshal(r.Rule) // The input of a Schedule is valid.
		encoded[string(text)] = true
	}
	return encoded
}

// RuleListNames returns the names of the lists of rules in the spec.
func (s *Schedule) RuleListNames() (names []string) {
	for _, list := range s.spec.Lists {
		names = append(names, list.Name)
	}
	return names
}

// CountLostRules counts the rules of a list in s that have not ended at now (all), and those of
// them that the list in next lacks (lost). Rules are the same if their names are.
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

// DescribeDifference returns a line for each rule, sitemap, extra line and staging setting that
// only one schedule has. Removed lines begin with "- ", added lines with "+ ".
func DescribeDifference(before, after *Schedule) (lines []string) {
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

// descriptionLines returns a line for each rule, sitemap and extra line, and a line for the staging
// hosts.
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

// String returns the rule in one line, with its times, hosts and notes.
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
