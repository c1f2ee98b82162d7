package managed

import (
	"fmt"
	"strings"
)

// subject is the subject of a rule for one crawler. A subject is the whole site, a pattern, the delay,
// or a use of some pages.
type subject struct {
	crawler int
	what    string
	host    string // see places
}

const (
	wholeSite = ""
	delayWord = "\x00delay"
	useWord   = "\x00use of " // followed by the use
)

// statement is a statement of a rule about a subject.
type statement struct {
	rule *rule
	line string
}

// Limits for the time and the memory that the search for contradictions needs.
const (
	maxStatements = 2_000_000
	maxOpposed    = 5_000_000 // pairs of statements whose times are compared
)

// contradiction returns an error for two rules that contradict each other about a topic. The rules
// must have a time and a host in common.
func contradiction(rules []rule) error {
	c := contradictions{ids: make(map[string]int), first: make(map[subject]statement), more: make(map[subject][]statement)}
	for i := range rules {
		if err := c.add(&rules[i]); err != nil {
			return &RuleError{rules[i].name, rules[i].At, err}
		}
	}
	return nil
}

// contradictions indexes the statements of rules.
type contradictions struct {
	ids        map[string]int // crawler numbers, by folded and original names
	first      map[subject]statement
	more       map[subject][]statement // later statements
	statements int
	compared   int
}

// id returns the number of a crawler. It assigns a new number to a new crawler.
func (c *contradictions) id(name string) int {
	id, known := c.ids[name]
	if !known {
		folded := strings.ToLower(name)
		if id, known = c.ids[folded]; !known {
			id = len(c.ids)
			c.ids[folded] = id
		}
		c.ids[name] = id
	}
	return id
}

// add adds a rule. It returns an error if the rule contradicts an earlier one.
func (c *contradictions) add(r *rule) error {
	against, at := r.hostKeys()
	for _, name := range r.crawlers() {
		id := c.id(name)
		for what, line := range r.statements() {
			if c.statements++; c.statements > maxStatements {
				return fmt.Errorf("with this rule there are more than %d lines for single crawlers; name fewer crawlers or paths", maxStatements)
			}
			for _, host := range against {
				key := subject{id, what, host}
				if other := c.opposite(statement{r, line}, key); other != nil {
					return contradict(name, what, other, r)
				}
			}
			if c.compared > maxOpposed {
				return fmt.Errorf("too many rules contradict each other at different times to check the rules for %s; write fewer rules", name)
			}
			for _, host := range at {
				key := subject{id, what, host}
				if _, known := c.first[key]; known {
					c.more[key] = append(c.more[key], statement{r, line})
				} else {
					c.first[key] = statement{r, line}
				}
			}
		}
	}
	return nil
}

// opposite returns a rule with the opposite statement, or nil.
func (c *contradictions) opposite(s statement, key subject) *rule {
	first, known := c.first[key]
	if !known {
		return nil
	}
	if first.line != s.line && first.rule.window.meets(s.rule.window) {
		return first.rule
	}
	more := c.more[key]
	for i := range more {
		if more[i].line == s.line {
			continue
		}
		if c.compared++; more[i].rule.window.meets(s.rule.window) {
			return more[i].rule
		}
	}
	return nil
}

// hostKeys returns the index keys of a rule. A rule is stored under the keys at, and compared with the
// rules under the keys against. A rule for all hosts has the key "". Other rules have the key "*" and
// their hosts. A rule for www.example.com also has the key ".example.com", which a wildcard looks up.
func (r *rule) hostKeys() (against, at []string) {
	if len(r.Hosts) == 0 {
		return []string{"", "*"}, []string{""}
	}
	against, at = []string{""}, []string{"*"}
	for _, host := range r.Hosts {
		_, rest, _ := strings.Cut(host, ".")
		if strings.HasPrefix(host, "*.") {
			against, at = append(against, host, "."+rest), append(at, host)
		} else {
			against, at = append(against, host, "*."+rest), append(at, host, "."+rest)
		}
	}
	return against, at
}

// statements yields the subjects of a rule, without the crawler, and the lines.
func (r *rule) statements() func(yield func(what, line string) bool) {
	return func(yield func(what, line string) bool) {
		switch {
		case r.CrawlDelay != "":
			yield(delayWord, r.CrawlDelay)
		case r.preference != nil:
			r.preference.statements(yield)
		case len(r.Paths) == 0:
			yield(wholeSite, ruleLine(r.Allow, "/"))
		}
		for _, path := range r.Paths {
			if !yield(path, ruleLine(r.Allow, path)) {
				return
			}
		}
	}
}

// statements yields the uses of a preference and their values.
func (p *preference) statements(yield func(what, said string) bool) {
	for _, c := range p.uses {
		what := p.kind + " " + c.key
		if p.path != "" {
			what += " of " + p.path
		}
		if !yield(useWord+what, c.value) {
			return
		}
	}
}

// crawlers returns the crawlers of a rule. If the rule is about all crawlers, the result is one special
// name.
func (r *rule) crawlers() []string {
	if len(r.For) == 0 {
		return []string{"every crawler"}
	}
	return r.tokens
}

// contradict returns the error for a contradiction.
func contradict(name, what string, a, b *rule) error {
	remedy := "remove one"
	if !a.isAlways() || !b.isAlways() {
		remedy = "remove one, or change the times"
		if both := a.window.and(b.window).String(); both != "" {
			remedy += "; both are in force " + both
		}
	}
	if a.name != b.name && a.ID+b.ID != "" {
		remedy = a.name + " says the opposite; " + remedy
	}
	use, isUse := strings.CutPrefix(what, useWord)
	switch {
	case what == delayWord:
		return fmt.Errorf("%s has two delays; remove one", name)
	case isUse:
		return fmt.Errorf("the rules state both yes and no to %s for %s; %s", name, use, remedy)
	case what == wholeSite:
		return fmt.Errorf("%s is both allowed and disallowed the whole site; %s", name, remedy)
	}
	return fmt.Errorf("%s is both allowed and disallowed %s; %s", name, what, remedy)
}

func (r *rule) isAlways() bool { return r.window == Window{} }
