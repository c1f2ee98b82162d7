package managed

import (
	"fmt"
	"slices"
	"strings"
)

// topic is what a rule can say one thing about: a crawler's whole site, one
// pattern, its delay, or one use of some pages.
type topic struct{ name, what string }

const (
	wholeSite = ""
	delayWord = "\x00delay"
	useWord   = "\x00use of " // and what it is
)

// saying is what a rule says about a topic.
type saying struct {
	rule *Rule
	line string
}

// contradiction finds two rules that say opposite things about one topic, at a time
// and a host that they have in common.
func contradiction(rules []Rule) error {
	said := make(map[topic]map[string][]saying) // by line
	for i := range rules {
		r := &rules[i]
		for _, name := range r.about() {
			for what, line := range r.sayings() {
				key := topic{strings.ToLower(name), what}
				if said[key] == nil {
					said[key] = make(map[string][]saying)
				}
				for other, by := range said[key] {
					if other == line {
						continue
					}
					for _, s := range by {
						if s.rule.meets(r.Window) && shareHost(s.rule.Hosts, r.Hosts) {
							return contradict(name, what, s.rule, r)
						}
					}
				}
				said[key][line] = append(said[key][line], saying{r, line})
			}
		}
	}
	return nil
}

// sayings yields the topics of a rule, without the crawler, and what it says.
func (r *Rule) sayings() func(yield func(what, line string) bool) {
	return func(yield func(what, line string) bool) {
		switch {
		case r.Delay != "":
			yield(delayWord, r.Delay)
		case r.preference != nil:
			r.preference.sayings(yield)
		case len(r.Paths) == 0:
			yield(wholeSite, lineOf(r.Allow, "/"))
		}
		for _, path := range r.Paths {
			if !yield(path, lineOf(r.Allow, path)) {
				return
			}
		}
	}
}

// sayings yields the uses that a preference is about, and what it says.
func (p *preference) sayings(yield func(what, said string) bool) {
	for _, c := range p.says {
		what := p.kind + " " + c.key
		if p.path != "" {
			what += " of " + p.path
		}
		if !yield(useWord+what, c.value) {
			return
		}
	}
}

// about returns the names that a rule is about, one that stands for every crawler
// if it is about all of them.
func (r *Rule) about() []string {
	if len(r.For) == 0 {
		return []string{"every crawler"}
	}
	return r.names
}

// shareHost reports whether two rules are for a host in common.
func shareHost(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, host := range a {
		_, rest, _ := strings.Cut(host, ".")
		if slices.Contains(b, host) || slices.Contains(b, "*."+rest) {
			return true
		}
	}
	return slices.ContainsFunc(b, func(host string) bool {
		_, rest, _ := strings.Cut(host, ".")
		return slices.Contains(a, "*."+rest)
	})
}

// contradict tells of a contradiction.
func contradict(name, what string, a, b *Rule) error {
	remedy := "remove one"
	if !a.isAlways() || !b.isAlways() {
		remedy = "remove one, or change the times"
		if both := a.and(b.Window).String(); both != "" {
			remedy += "; they meet " + both
		}
	}
	if a.ID != b.ID && (a.isNamed() || b.isNamed()) {
		remedy = a.ID + " says the opposite; " + remedy
	}
	use, isUse := strings.CutPrefix(what, useWord)
	switch {
	case what == delayWord:
		return fmt.Errorf("%s: %s has two delays; keep one", b.ID, name)
	case isUse:
		return fmt.Errorf("%s: %s is told both yes and no for %s; %s", b.ID, name, use, remedy)
	case what == wholeSite:
		return fmt.Errorf("%s: %s is both allowed and disallowed the whole site; %s", b.ID, name, remedy)
	}
	return fmt.Errorf("%s: %s is both allowed and disallowed %s; %s", b.ID, name, what, remedy)
}

func (r *Rule) isAlways() bool { return r.Window == Window{} }

// isNamed reports whether a rule has a name that its owner gave it.
func (r *Rule) isNamed() bool { return strings.HasPrefix(r.ID, "rule ") }
