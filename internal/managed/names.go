package managed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// nameResolver finds the product tokens for the words of rules, such as classes, in a registry.
type nameResolver struct {
	registry     *uaident.Registry
	crawlerNames []groupNames // These are the names of all registered crawlers.
	// isStoredSpec is true for words of a stored spec, which were valid when it was stored.
	isStoredSpec  bool
	tokensByWords map[string][]string
}

// newNameResolver returns a resolver for the crawlers of a registry.
func newNameResolver(registry *uaident.Registry) *nameResolver {
	n := &nameResolver{registry: registry, tokensByWords: make(map[string][]string)}
	for _, c := range registry.Crawlers() {
		n.crawlerNames = append(n.crawlerNames, crawlerGroupNames(&c))
	}
	return n
}

// compileRules checks the rules of a spec, and returns them with their crawlers and parsed fields.
// In the spec, it normalizes hosts and removes positions.
func (n *nameResolver) compileRules(spec *Spec) (all []rule, err error) {
	known := make(map[string]bool) // This has the IDs of rules that were seen.
	for _, list := range append([]RuleList{{Rules: spec.Rules}}, spec.Lists...) {
		for i := range list.Rules {
			written := &list.Rules[i]
			window, err := CheckRule(written)
			if err == nil && known[written.ID] {
				err = errors.New("two rules have this name; give each its own name")
			}
			if err == nil {
				written.Hosts, err = normalizeHosts(written.Hosts)
			}
			if err != nil {
				return nil, &RuleError{written.Name(), written.At, err}
			}
			known[written.ID] = written.ID != ""
			for _, r := range expandTrainingPreference(*written) {
				r := rule{Rule: r, name: written.Name(), list: list.Name, window: window}
				if err := n.resolveRule(&r); err != nil {
					return nil, &RuleError{r.name, r.At, err}
				}
				all = append(all, r)
			}
			written.At = ""
		}
	}
	return all, nil
}

// resolveRule parses the preference of a rule, finds its crawlers and checks its paths.
func (n *nameResolver) resolveRule(r *rule) (err error) {
	if r.preference, err = r.parsePreference(); err == nil && (r.preference == nil || len(r.For) > 0) {
		r.tokens, err = n.getOrResolveTokens(r.For)
	}
	if err != nil {
		return err
	}
	for _, path := range r.Paths {
		if err := checkPath(path); err != nil {
			return err
		}
	}
	return nil
}

// getOrResolveTokens returns the result of resolveTokens from a cache, because many rules have the
// same words.
func (n *nameResolver) getOrResolveTokens(words []string) (all []string, err error) {
	key := strings.Join(words, "\x00")
	all, known := n.tokensByWords[key]
	if !known {
		if all, err = n.resolveTokens(words); err == nil {
			n.tokensByWords[key] = all
		}
	}
	return all, err
}

// normalizeHosts returns hosts and wildcards in the form in which requests are looked up: in
// lower-case ASCII and without a final dot. An invalid host is an error.
func normalizeHosts(words []string) (hosts []string, err error) {
	for _, word := range words {
		rest, below := strings.CutPrefix(word, "*.")
		host := site.NormalizeHost(rest, false)
		if rest == "" || strings.ContainsAny(host, "*/:{} \t") {
			return nil, fmt.Errorf("%q is not a host; write the host as in the site's address, without a port, such as shop.example.com or *.example.com", word)
		}
		if below {
			host = "*." + host
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// resolveTokens returns the sorted product tokens for words, without duplicates. A word is a token,
// "*", or a class, which stands for its crawlers. A crawler with several purposes has only the
// class of its main purpose, so ai_training has no search engine.
func (n *nameResolver) resolveTokens(words []string) (names []string, err error) {
	if len(words) == 0 {
		return nil, errors.New("name the crawlers of the rule: a product token, a class, for example ai_training, or *")
	}
	for _, word := range words {
		if word == AnyCrawler {
			names = append(names, word)
			continue
		}
		if class, ok := uaident.ParseClass(word); ok {
			tokens := n.tokensInClass(class)
			if len(tokens) == 0 {
				return nil, fmt.Errorf("the registry has no crawler of the class %s", word)
			}
			names = append(names, tokens...)
			continue
		}
		token, meant := strings.CutPrefix(word, judge.TokenPrefix)
		if c := n.registry.Lookup(token); c != nil {
			token = c.Token
		} else if !meant && (!n.isStoredSpec || word == strings.ToLower(word)) {
			// This may be a class of a newer version.
			return nil, unknownNameError(n.registry, word)
		}
		if err := checkName(token); err != nil {
			return nil, err
		}
		names = append(names, token)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return slices.CompactFunc(names, strings.EqualFold), nil
}

// tokensInClass returns the product tokens of the crawlers of a class.
func (n *nameResolver) tokensInClass(class uaident.Class) (tokens []string) {
	for _, c := range n.registry.Crawlers() {
		if c.Class == class && class != uaident.Browser {
			tokens = append(tokens, c.Token)
		}
	}
	return tokens
}

// unknownNameError returns the error for a word that is neither a token, a class nor "*", with a
// hint.
func unknownNameError(registry *uaident.Registry, word string) error {
	if strings.Contains(word, ",") {
		return fmt.Errorf("%q contains a comma; separate names by spaces", word)
	}
	if word == "from" || word == "until" {
		return fmt.Errorf("%q is not a crawler; write a rule with a time as a block, each option on its own line: rule <name> { for ..., disallow ..., from ..., until ... }", word)
	}
	hint := "the classes are " + judge.ListClasses() + ", and a path begins with a slash"
	if likely := judge.SuggestNames(registry, word, false); len(likely) > 0 {
		hint = "did you mean " + strings.Join(likely, " or ") + "?"
	}
	return fmt.Errorf("%q is not a class and not a known crawler; %s (for a new crawler of that name write %s)", word, hint, judge.TokenPrefix+word)
}

// checkName returns an error for a token that cannot be the value of a user-agent line.
func checkName(token string) error {
	if token == "" || strings.ContainsAny(token, "\r\n\x00#:*,/") || strings.Trim(token, " \t") != token {
		return fmt.Errorf("%q is not a valid product token", token)
	}
	return nil
}

// groupNames are the values of user-agent lines that a crawler obeys: its own token first, then
// aliases and fallbacks. The first name that a file has selects the crawler's group.
type groupNames []string

// crawlerGroupNames returns the group names of a registered crawler.
func crawlerGroupNames(c *uaident.Crawler) groupNames {
	return slices.Concat(groupNames{c.Token}, c.Aliases, c.Fallback)
}

// groupNames returns the group names of the crawler that the rules are for, or nil for the * group.
func (w *crawlerRules) groupNames() groupNames {
	switch {
	case w.name == AnyCrawler:
		return nil
	case w.crawler != nil:
		return crawlerGroupNames(w.crawler)
	}
	return groupNames{w.name}
}

// findInheritors sets p.inheritors: the crawlers that no rule names but that may obey a new group
// of the plan. For example, Googlebot-Image without its own group obeys a group for Googlebot. A
// crawler with only one group name cannot.
func (p *Plan) findInheritors(crawlers []groupNames) {
	if len(p.byCrawler) == 0 {
		return
	}
	for _, names := range crawlers {
		if len(names) == 1 || p.byCrawler[strings.ToLower(names[0])] != nil {
			continue
		}
		if slices.ContainsFunc(names[1:], func(name string) bool { return p.byCrawler[strings.ToLower(name)] != nil }) {
			p.inheritors = append(p.inheritors, names)
		}
	}
}

// wouldInherit reports whether a crawler that no rule names would obey a new group of the plan.
// This is not so if the base, robots, has a group with a more specific name of the crawler.
func (p *Plan) wouldInherit(names groupNames, robots *policy.Robots) bool {
	for i, name := range names {
		if p.byCrawler[strings.ToLower(name)] != nil {
			return i > 0
		}
		if robots.NamesToken(name) {
			return false
		}
	}
	return false
}
