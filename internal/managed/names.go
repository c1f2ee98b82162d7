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

// nameResolver resolves the names by which crawlers select groups.
type nameResolver struct {
	registry      *uaident.Registry
	chains        []groupNames // of all registered crawlers
	stored        bool         // the words come from a stored spec and were valid then
	tokensByWords map[string][]string
}

func newNameResolver(registry *uaident.Registry) *nameResolver {
	n := &nameResolver{registry: registry, tokensByWords: make(map[string][]string)}
	for _, c := range registry.Crawlers() {
		n.chains = append(n.chains, groupNamesOf(&c))
	}
	return n
}

// compile checks the rules of a spec, resolves their crawlers and normalizes the hosts in the spec.
func (n *nameResolver) compile(spec *Spec) (all []rule, err error) {
	known := make(map[string]bool) // IDs
	for _, list := range append([]List{{Rules: spec.Rules}}, spec.Lists...) {
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
			for _, r := range expandTraining(*written) {
				r := rule{Rule: r, name: written.Name(), list: list.Name, window: window}
				if err := n.resolve(&r); err != nil {
					return nil, &RuleError{r.name, r.At, err}
				}
				all = append(all, r)
			}
			written.At = ""
		}
	}
	return all, nil
}

// resolve parses the preference of a rule and finds its crawlers. resolve also checks the paths.
func (n *nameResolver) resolve(r *rule) (err error) {
	if r.preference, err = r.parsePreference(); err == nil && (r.preference == nil || len(r.For) > 0) {
		r.tokens, err = n.tokensOf(r.For)
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

// tokensOf caches resolveTokens, because many rules may have the same classes.
func (n *nameResolver) tokensOf(words []string) (all []string, err error) {
	key := strings.Join(words, "\x00")
	all, known := n.tokensByWords[key]
	if !known {
		if all, err = n.resolveTokens(words); err == nil {
			n.tokensByWords[key] = all
		}
	}
	return all, err
}

// normalizeHosts returns hosts in the form of requests.
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

// resolveTokens returns the product tokens for words, without duplicates. A class stands for its crawlers.
// The class of a crawler with several purposes is its main purpose, so ai_training has no search
// engine.
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
			tokens := n.tokensOfClass(class)
			if len(tokens) == 0 {
				return nil, fmt.Errorf("no known crawler is of class %s", word)
			}
			names = append(names, tokens...)
			continue
		}
		token, meant := strings.CutPrefix(word, judge.TokenPrefix)
		if c := n.registry.Lookup(token); c != nil {
			token = c.Token
		} else if !meant && (!n.stored || word == strings.ToLower(word)) { // may be a class of a newer version
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

// tokensOfClass returns the product tokens of a class.
func (n *nameResolver) tokensOfClass(class uaident.Class) (tokens []string) {
	for _, c := range n.registry.Crawlers() {
		if c.Class == class && class != uaident.Browser {
			tokens = append(tokens, c.Token)
		}
	}
	return tokens
}

func unknownNameError(registry *uaident.Registry, word string) error {
	if strings.Contains(word, ",") {
		return fmt.Errorf("%q contains a comma; separate names by spaces", word)
	}
	if word == "from" || word == "until" {
		return fmt.Errorf("%q is not a crawler; a rule with a time has a block with a line for each: rule <name> { for ..., disallow ..., from ..., until ... }", word)
	}
	hint := "the classes are " + judge.ListClasses() + ", and a path begins with a slash"
	if likely := judge.SuggestNames(registry, word, false); len(likely) > 0 {
		hint = "did you mean " + strings.Join(likely, " or ") + "?"
	}
	return fmt.Errorf("%q is not a class and not a known crawler; %s (for a new crawler of that name write %s)", word, hint, judge.TokenPrefix+word)
}

// checkName returns an error if a group cannot have this name.
func checkName(token string) error {
	if token == "" || strings.ContainsAny(token, "\r\n\x00#:*,/") || strings.Trim(token, " \t") != token {
		return fmt.Errorf("%q is not a valid product token", token)
	}
	return nil
}

// groupNames has the names by which a crawler selects its group. The first is its own name.
type groupNames []string

// groupNamesOf returns the names of a registered crawler.
func groupNamesOf(c *uaident.Crawler) groupNames {
	return slices.Concat(groupNames{c.Token}, c.Aliases, c.Fallback)
}

// groupNames returns the names by which the crawler of some rules selects its group.
func (w *crawlerRules) groupNames() groupNames {
	switch {
	case w.name == AnyCrawler:
		return nil
	case w.crawler != nil:
		return groupNamesOf(w.crawler)
	}
	return groupNames{w.name}
}

// findInheritors finds crawlers that may obey a new group although no rule names them. For example,
// Googlebot-Image without its own group obeys a group for Googlebot. Crawlers sharing a name in every
// file are skipped: a group for "Sogou web spider" also names Sogou.
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

// wouldInherit reports whether a crawler without a rule would obey a new group. robots has the groups of the base.
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
