package managed

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Pair is the texts that two schedules make for some hosts from a time on.
type Pair struct {
	Hosts         []string  // as rules name them, wildcards included; "" for those that none names
	From          time.Time // zero for now
	Before, After []byte
}

// group is hosts for which two schedules make the same texts.
type group struct {
	before, after   *table
	base            string
	staging, stages bool   // before and after
	host            string // "" if the texts are the same for all
}

// Comparison compares the files of two schedules.
type Comparison struct {
	Before, After *Schedule
	Hosts         []string                 // besides those that the schedules name
	Base          func(host string) []byte // what is known of the base at a host
	Now           time.Time
	OnlyNow       bool // compares no files to come
	Most          int  // how many pairs are compared at most
}

// Each calls do for the files that differ, from now on until the horizon. It returns how
// many pairs were not compared. A file that cannot be composed is left out, since it is
// not served either.
func (c *Comparison) Each(do func(Pair)) (left int) {
	var groups []group
	hosts := make(map[group][]string)
	for _, host := range hostsOfBoth(c.Before, c.After, c.Hosts) {
		name := host
		if host != "" {
			name = SomeHost(host)
		}
		g := group{c.Before.of(name), c.After.of(name), string(c.Base(name)), c.Before.IsStaging(name), c.After.IsStaging(name), ""}
		if g.before.hosts || g.after.hosts {
			g.host = name
		}
		if hosts[g] == nil {
			groups = append(groups, g)
		}
		hosts[g] = append(hosts[g], host)
	}
	compared := 0
	for _, g := range groups {
		for _, from := range c.turns(&g) {
			if compared == c.Most {
				left++
				continue
			}
			compared++
			at := from
			if at.IsZero() {
				at = c.Now
			}
			p := Pair{Hosts: hosts[g], From: from}
			var composed, composes bool
			p.Before, composed = g.before.textAt(at, g.base, g.host, g.staging)
			p.After, composes = g.after.textAt(at, g.base, g.host, g.stages)
			if composed && composes && string(p.Before) != string(p.After) {
				do(p)
			}
		}
	}
	return left
}

// hostsOfBoth returns the hosts that two schedules name, and others, "" for the rest
// first.
func hostsOfBoth(a, b *Schedule, more []string) []string {
	hosts := map[string]bool{"": true}
	for _, s := range []*Schedule{a, b} {
		for host := range s.exact {
			hosts[host] = true
		}
		for rest := range s.below {
			hosts["*."+rest] = true
		}
		for _, host := range s.staging {
			if host != anyHost {
				hosts[request.NormalHost(host, false)] = true
			}
		}
	}
	for _, host := range more {
		hosts[host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}

// turns returns when a file of a group may change: now, as zero, and what is to come.
func (c *Comparison) turns(g *group) []time.Time {
	turns := []time.Time{{}}
	if c.OnlyNow {
		return turns
	}
	for _, t := range []*table{g.before, g.after} {
		for _, turn := range t.turns {
			if turn.After(c.Now) && turn.Before(c.Now.Add(horizon)) {
				turns = append(turns, turn)
			}
		}
	}
	return sortedTimes(turns)
}

// textAt returns the text of a time, and whether there is one.
func (t *table) textAt(at time.Time, base, host string, staging bool) ([]byte, bool) {
	if staging {
		return []byte(Staging), true
	}
	text, err := t.make(t.turn(at)).Compose([]byte(base), SomeHost(host))
	return text, err == nil
}

// SameFor reports whether two schedules say the same to some crawlers whatever the
// base is: their rules about these, and about all, are the same, and so is staging.
func SameFor(a, b *Schedule, crawlers []*uaident.Crawler) bool {
	about := map[string]bool{Everybody: true}
	for _, c := range crawlers {
		for _, name := range chainOf(c) {
			about[strings.ToLower(name)] = true
		}
	}
	return slices.Equal(a.staging, b.staging) && maps.Equal(a.sayingsTo(about), b.sayingsTo(about))
}

// sayingsTo returns what the rules about some crawlers say.
func (s *Schedule) sayingsTo(about map[string]bool) map[string]bool {
	said := make(map[string]bool)
	for i := range s.rules {
		r := s.rules[i]
		r.names = slices.DeleteFunc(slices.Clone(r.names), func(name string) bool { return !about[strings.ToLower(name)] })
		if len(r.names) == 0 || r.Delay+r.Usage+r.Signal != "" {
			continue
		}
		r.ID, r.For, r.Reason, r.Owner, r.Ticket, r.List = "", r.names, "", "", "", ""
		text, _ := json.Marshal(r) // see Spec
		said[string(text)] = true
	}
	return said
}

// LostRules returns how many rules of a list the schedule has that are not over at now, and
// how many of them the next one lacks. Two rules of one name are the same rule.
func (s *Schedule) LostRules(next *Schedule, list string, now time.Time) (lost, all int) {
	names := make(map[string]bool)
	for i := range next.rules {
		if r := &next.rules[i]; r.List == list {
			names[r.ID] = true
		}
	}
	for i := range s.rules {
		r := &s.rules[i]
		if r.List != list || !r.Until.IsZero() && !r.Until.After(now) {
			continue
		}
		if all++; !names[r.ID] {
			lost++
		}
	}
	return lost, all
}

// Difference returns what another schedule says in words, a line for each rule, sitemap
// and line that is new or gone.
func Difference(before, after *Schedule) (lines []string) {
	was, is := before.words(), after.words()
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

// words returns all that a schedule says, in lines.
func (s *Schedule) words() (lines []string) {
	for i := range s.rules {
		lines = append(lines, s.rules[i].String())
	}
	for _, sitemap := range s.sitemaps {
		lines = append(lines, "sitemap "+sitemap)
	}
	for _, line := range s.lines {
		lines = append(lines, "line "+line)
	}
	if s.staging != nil {
		lines = append(lines, "staging "+strings.Join(s.staging, " "))
	}
	for i := range lines {
		lines[i] = asWritten(lines[i])
	}
	return lines
}

// String tells the rule in a line.
func (r *Rule) String() string {
	words := []string{}
	if r.isNamed() {
		words = append(words, r.ID+":")
	}
	verb := "disallow"
	switch {
	case r.Delay != "":
		verb = "crawl_delay " + r.Delay
	case r.Usage != "":
		verb = "content_usage " + r.Usage
	case r.Signal != "":
		verb = "content_signal " + r.Signal
	case r.Allow:
		verb = "allow"
	}
	words = append(append(append(words, verb), r.For...), r.Paths...)
	if window := r.Window.String(); window != "" {
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
