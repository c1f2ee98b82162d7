package managed

import (
	"fmt"
	"strings"
)

// ruleSubject is the subject of a rule for one crawler: the whole site, a pattern, the delay, or a use of
// some pages.
type ruleSubject struct {
	crawler string // folded
	aspect  string
	host    string // see hostKeys
}

const (
	wholeSite = ""
	delayWord = "\x00delay"
	useWord   = "\x00use of " // followed by the use
)

// ruleStatement is a statement of a rule about a subject.
type ruleStatement struct {
	rule *rule
	line string
}

// Limits for the time and the memory that the search for contradictions needs.
const (
	maxStatements = 2_000_000
	maxOpposed    = 5_000_000 // pairs of statements whose times are compared
)

// findContradiction returns an error for two contradictory rules about a subject. The rules must have a
// time and a host in common.
func findContradiction(rules []rule) error {
	known := make(map[ruleSubject][]ruleStatement)
	statements, compared := 0, 0
	for i := range rules {
		r := &rules[i]
		against, at := r.hostKeys()
		for _, name := range r.crawlers() {
			folded := strings.ToLower(name)
			for what, line := range r.statements() {
				statements++
				for _, host := range against {
					for _, s := range known[ruleSubject{folded, what, host}] {
						if s.line == line {
							continue
						}
						if compared++; s.rule.window.overlaps(r.window) {
							return &RuleError{r.name, r.At, contradictionError(name, what, s.rule, r)}
						}
					}
				}
				if err := checkLimits(name, statements, compared); err != nil {
					return &RuleError{r.name, r.At, err}
				}
				for _, host := range at {
					key := ruleSubject{folded, what, host}
					known[key] = append(known[key], ruleStatement{r, line})
				}
			}
		}
	}
	return nil
}

func checkLimits(name string, statements, compared int) error {
	switch {
	case statements > maxStatements:
		return fmt.Errorf("with this rule there are more than %d lines for single crawlers; name fewer crawlers or paths", maxStatements)
	case compared > maxOpposed:
		return fmt.Errorf("too many rules contradict each other at different times to check the rules for %s; write fewer rules", name)
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

// crawlers returns the crawlers of a rule. If the rule is about all crawlers, the result is a special
// name.
func (r *rule) crawlers() []string {
	if len(r.For) == 0 {
		return []string{"every crawler"}
	}
	return r.tokens
}

// contradictionError returns the error for a contradiction.
func contradictionError(name, what string, a, b *rule) error {
	remedy := "remove one"
	if !a.hasNoWindow() || !b.hasNoWindow() {
		remedy = "remove one, or change the times"
		if both := a.window.intersect(b.window).String(); both != "" {
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

func (r *rule) hasNoWindow() bool { return r.window == Window{} }
