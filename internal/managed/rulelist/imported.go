package rulelist

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Imported is what was made of a file of another form.
type Imported struct {
	Rules    []Rule
	Sitemaps []string
	Whole    bool     // the rules say all that the file does, so that they need no base
	Notes    []string // what the owner should know
}

// FromRobots makes rules of a robots.txt. With no base they say to every crawler what
// the file does. It fails for a file that crawlers read in two ways.
//
// A rule for a crawler that the file names is about the whole site first, and then
// about paths: so it takes the place of what the rules for * say, as a group does.
func FromRobots(registry *uaident.Registry, robots *policy.Robots) (in Imported, err error) {
	in.Whole = true
	of := make(map[string]int) // the place of what was said in all
	var all []*group
	told := make(map[string]int) // the same by folded names
	for _, s := range subjects(registry, robots) {
		selection := robots.Select(true, s.names...)
		if selection.Ambiguous() {
			return in, fmt.Errorf("the robots.txt is read by crawlers in two ways (for %s, for one); run caddy robots-guard lint on it, mend what it finds, and import it then", s.word)
		}
		g := groupOf(selection)
		i, known := of[g.key()]
		if !known {
			i = len(all)
			of[g.key()], all = i, append(all, g)
		}
		all[i].names = append(all[i].names, s.word)
		told[strings.ToLower(s.names[0])] = i
	}
	in.Notes = alike(told)
	for _, name := range robots.Names() {
		in.noteApplication(registry, tokenOf(name))
		if tokenOf(name) == "" && escaped(name) != name {
			in.Notes = append(in.Notes, fmt.Sprintf("%.80q can be no product token and is left out", name))
		}
	}
	if everybody := robots.Select(true); everybody != nil {
		if everybody.Ambiguous() {
			return in, errors.New("the robots.txt is read by crawlers in two ways (for *); run caddy robots-guard lint on it, mend what it finds, and import it then")
		}
		g := groupOf(everybody)
		g.names, g.isEverybody = []string{"*"}, true
		all = append(all, g)
	}
	for i, g := range all {
		in.Rules = append(in.Rules, g.rules("import-"+strconv.Itoa(i+1))...)
	}
	in.takeRecords(robots)
	_, err = schedule(registry, in.Rules, in.Sitemaps, nil)
	return in, err
}

// noteApplication adds a note if a name is that of an application.
func (in *Imported) noteApplication(registry *uaident.Registry, name string) {
	if registry.Lookup(name) != nil || !uaident.IsApplication(name) {
		return
	}
	note := fmt.Sprintf("%s is the name of an application that people use, and of no crawler; take it out of the rule", name)
	if !slices.Contains(in.Notes, note) {
		in.Notes = append(in.Notes, note)
	}
}

// alike tells of names that no text can tell apart: a group for "Sogou web spider"
// names Sogou, too. told has what is said to each.
func alike(told map[string]int) (notes []string) {
	const longest = 100 // of the names that somebody has
	for _, name := range slices.Sorted(maps.Keys(told)) {
		for i := range min(len(name), longest) {
			if other, known := told[name[:i]]; known && name[i] == ' ' && other != told[name] {
				notes = append(notes, fmt.Sprintf("a group for %q names %q, too, to whom the file says something else; compare what the rules make with diff", name, name[:i]))
			}
		}
	}
	return notes
}

// subject is whom a group of a robots.txt is for.
type subject struct {
	word  string   // for a rule
	names []string // by which the group is looked for
}

// subjects returns the crawlers that a robots.txt names, and the known ones that obey
// a group for another of their names.
func subjects(registry *uaident.Registry, robots *policy.Robots) (all []subject) {
	known := make(map[string]bool)
	add := func(s subject) {
		if folded := strings.ToLower(s.word); !known[folded] {
			known[folded] = true
			all = append(all, s)
		}
	}
	for _, name := range robots.Names() {
		name = tokenOf(name)
		if name == "" {
			continue
		}
		if c := registry.Lookup(name); c != nil {
			add(subject{c.Token, chainOf(c)})
		} else {
			add(subject{judge.MeantToken + name, []string{name}})
		}
	}
	for _, c := range registry.Crawlers() {
		if names := chainOf(&c); slices.ContainsFunc(names, robots.Named) {
			add(subject{c.Token, names})
		}
	}
	return all
}

func chainOf(c *uaident.Crawler) []string {
	return slices.Concat([]string{c.Token}, c.Aliases, c.Fallback)
}

// tokenOf returns the product token in the name of a group, "" for none: what stands
// behind a slash is a version, and a star is no wildcard there. What would need escapes
// is in the name of no crawler.
func tokenOf(name string) string {
	if i := strings.IndexAny(name, "/*:,#"); i >= 0 {
		name = name[:i]
	}
	if name = strings.Trim(name, " \t"); escaped(name) != name {
		return ""
	}
	return name
}

// group is what a robots.txt says to some crawlers.
type group struct {
	names           []string
	isEverybody     bool
	closed          bool // the whole site is forbidden but for what is allowed
	disallow, allow []string
	delay           string
}

// groupOf returns what a selection says. A line that matches nothing is left out, and
// one that forbids what another allows by the same pattern, which holds.
func groupOf(s *policy.Selection) *group {
	g := new(group)
	open := false
	for _, r := range s.Rules() {
		switch path := r.Canonical(); {
		case path == "":
		case len(path) == 1: // the whole site, as no pattern is shorter
			open, g.closed = open || r.Allow, g.closed || !r.Allow
		case r.Allow:
			g.allow = append(g.allow, escaped(r.Path))
		default:
			g.disallow = append(g.disallow, escaped(r.Path))
		}
	}
	g.closed = g.closed && !open
	for _, paths := range []*[]string{&g.allow, &g.disallow} {
		slices.Sort(*paths)
		*paths = slices.Compact(*paths)
	}
	g.disallow = slices.DeleteFunc(g.disallow, func(path string) bool {
		_, allowed := slices.BinarySearch(g.allow, path)
		return allowed
	})
	if seconds := s.Delay().Every.Seconds(); seconds > 0 && seconds <= 86400 {
		g.delay = strconv.FormatFloat(seconds, 'g', -1, 64)
	}
	return g
}

// key is the same for groups that say the same.
func (g *group) key() string {
	return fmt.Sprintf("%t %q %q %s", g.closed, g.disallow, g.allow, g.delay)
}

// rules returns the rules that say what the group does.
func (g *group) rules(id string) (all []Rule) {
	if g.closed || !g.isEverybody {
		all = append(all, Rule{ID: id, For: g.names, Allow: !g.closed})
	}
	if len(g.disallow) > 0 {
		all = append(all, Rule{ID: id + "-disallow", For: g.names, Paths: g.disallow})
	}
	if len(g.allow) > 0 {
		all = append(all, Rule{ID: id + "-allow", For: g.names, Allow: true, Paths: g.allow})
	}
	if g.delay != "" {
		all = append(all, Rule{ID: id + "-delay", For: g.names, CrawlDelay: g.delay})
	}
	return all
}

// takeRecords takes what else stands in a robots.txt.
func (in *Imported) takeRecords(robots *policy.Robots) {
	for _, r := range robots.Records() {
		switch key := strings.ToLower(r.Key); {
		case key == "sitemap" && strings.Contains(r.Value, "://"):
			in.Sitemaps = append(in.Sitemaps, escaped(r.Value))
		case key == "crawl-delay":
		case r.Group < 0:
			in.Notes = append(in.Notes, fmt.Sprintf("line %d, %s: %s, is no rule; write it with line into the Caddyfile", r.Line, r.Key, r.Value))
		default:
			in.Notes = append(in.Notes, fmt.Sprintf("line %d, %s: %s, is left out; what it asks of crawlers has no rule, or is written with content_usage or content_signal", r.Line, r.Key, r.Value))
		}
	}
}
