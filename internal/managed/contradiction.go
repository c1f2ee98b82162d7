package managed

import (
	"fmt"
	"strings"
)

// ruleSubject is what two rules for a crawler may contradict each other about: access to the whole
// site, a path pattern, the Crawl-delay, or a use of pages.
type ruleSubject struct {
	crawler string // crawler is the product token in lower case.
	aspect  string
	host    string // host is a key of the function hostKeys.
}

const (
	wholeSite = ""
	delayWord = "\x00delay"
	useWord   = "\x00use of " // The use follows this word.
)

// ruleStatement is the statement of a rule about a [ruleSubject].
type ruleStatement struct {
	rule *rule
	line string
}

// Limits for the time and the memory that the search for contradictions needs.
const (
	maxStatements = 2_000_000
	maxOpposed    = 5_000_000 // maxOpposed is the maximum number of pairs of statements whose times are compared.
)

// findContradiction returns a [RuleError] for the first rule that states something else about a
// subject than an earlier rule at the same time and host. It also returns a RuleError if the search
// exceeds its limits. The result is nil if no rules contradict each other.
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
				if err := checkSearchLimits(name, statements, compared); err != nil {
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

// checkSearchLimits returns an error if the search for contradictions takes too much memory or time.
func checkSearchLimits(name string, statements, compared int) error {
	switch {
	case statements > maxStatements:
		return fmt.Errorf("with this rule there are more than %d lines for single crawlers; name fewer crawlers or paths", maxStatements)
	case compared > maxOpposed:
		return fmt.Errorf("too many rules contradict each other at different times to check the rules for %s; write fewer rules", name)
	}
	return nil
}

// hostKeys returns the host keys under which findContradiction stores a rule (at) and looks for
// other rules (against). A rule for all hosts has the key "". Another rule has the key "*" and its
// hosts. A rule for www.example.com also has the key ".example.com", so that rules for
// *.example.com find it.
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

// statements yields the aspect of each [ruleSubject] of the rule, with what the rule states about
// it: a robots.txt line, the seconds of a delay, or the value of a preference.
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

// statements yields the aspect of each [ruleSubject] of the preference, with its value.
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

// crawlers returns the product tokens that the rule is for, or "every crawler" for a rule that
// names none.
func (r *rule) crawlers() []string {
	if len(r.For) == 0 {
		return []string{"every crawler"}
	}
	return r.tokens
}

// contradictionError returns the error for rules a and b, which contradict each other about an
// aspect of the crawler with this name.
func contradictionError(name, what string, a, b *rule) error {
	remedy := "remove one"
	if !a.isAlwaysInForce() || !b.isAlwaysInForce() {
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
		return fmt.Errorf("%s has two values of crawl_delay; remove one", name)
	case isUse:
		return fmt.Errorf("%s is set to both yes and no for %s; %s", use, name, remedy)
	case what == wholeSite:
		return fmt.Errorf("%s is both allowed and disallowed the whole site; %s", name, remedy)
	}
	return fmt.Errorf("%s is both allowed and disallowed %s; %s", name, what, remedy)
}

// isAlwaysInForce reports whether the rule has neither a start nor an end.
func (r *rule) isAlwaysInForce() bool { return r.window == Window{} }
