package uaident

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// WithCrawlers returns a registry with the given crawlers added to the entries of r. If the token
// of an existing entry is the token or an alias of a new crawler, the new crawler replaces that
// entry. If an alias of an existing entry is a name of a new crawler, the alias belongs to the new
// crawler only. To change single fields, change a copy of the entry that [Registry.Lookup] returns.
//
// The error lists every invalid crawler (see [Registry.Validate]), every duplicate name, and every
// fallback without an entry.
func (r *Registry) WithCrawlers(crawlers ...Crawler) (*Registry, error) {
	newNames, errs := r.collectNames(crawlers)
	merged := slices.Clone(crawlers)
	for i := range merged {
		merged[i].Aliases, merged[i].Fallback = slices.Clone(merged[i].Aliases), slices.Clone(merged[i].Fallback)
	}
	isNewName := func(alias string) bool { return newNames[strings.ToLower(alias)] }
	for _, c := range r.crawlers {
		if newNames[c.normalizeName(c.Token)] {
			continue
		}
		if slices.ContainsFunc(c.Aliases, isNewName) {
			c.Aliases = slices.DeleteFunc(slices.Clone(c.Aliases), isNewName)
		}
		merged = append(merged, c)
	}
	slices.SortFunc(merged, func(a, b Crawler) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Token), strings.ToLower(b.Token)), strings.Compare(a.Token, b.Token))
	})
	for _, c := range crawlers {
		for _, f := range c.Fallback {
			if !slices.ContainsFunc(merged, func(c Crawler) bool { return strings.EqualFold(c.Token, f) || text.ContainsFold(c.Aliases, f) }) {
				errs = append(errs, fmt.Errorf("crawler %s: unknown fallback %q; correct the name, or add an entry for the fallback", c.Token, f))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return compileRegistry(r.vocabulary(), merged)
}

// collectNames returns the names of new crawlers, normalized by normalizeName, and an error for each invalid
// crawler or duplicate name.
func (r *Registry) collectNames(crawlers []Crawler) (names map[string]bool, errs []error) {
	names = make(map[string]bool)
	for _, c := range crawlers {
		if err := r.Validate(&c); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range append([]string{c.Token}, c.Aliases...) {
			key := c.normalizeName(name)
			if names[key] {
				errs = append(errs, fmt.Errorf("crawler %s: the name %q occurs twice; use a name once", c.Token, name))
			}
			names[key] = true
		}
	}
	return names, errs
}

// normalizeName returns a name of c in lower case, or unchanged if the name is a token with
// ExactCase.
func (c *Crawler) normalizeName(name string) string {
	if c.ExactCase && name == c.Token {
		return name
	}
	return strings.ToLower(name)
}

// NewRegistry returns a registry without crawlers for the generator of the built-in registry. v is
// the content of words.json.
func NewRegistry(v words.Vocabulary) (*Registry, error) { return compileRegistry(v, nil) }

// compileRegistry returns a registry of the given crawlers. v is the content of words.json.
func compileRegistry(v words.Vocabulary, crawlers []Crawler) (*Registry, error) {
	var names []words.CrawlerName
	for i, c := range crawlers {
		names = append(names, words.CrawlerName{Name: c.Token, Crawler: i, Exact: c.ExactCase})
		for _, a := range c.Aliases {
			names = append(names, words.CrawlerName{Name: a, Crawler: i})
		}
	}
	keys, numBrowserOnly, err := words.BuildKeys(v, names)
	if err != nil {
		return nil, fmt.Errorf("crawler: %w", err)
	}
	n := &Registry{crawlers: crawlers, keys: keys, numBrowserOnlyKeys: numBrowserOnly, table: new(words.Table)}
	for i, k := range keys {
		n.table.Add(k.Text, i)
	}
	return n, nil
}

// Validate returns an error if a field of c is invalid, or if a name of c is a common word such as
// mozilla. [Registry.WithCrawlers] also checks that the fallbacks exist.
func (r *Registry) Validate(c *Crawler) error {
	for _, name := range append([]string{c.Token}, c.Aliases...) {
		switch {
		case words.FirstWord(name) == "":
			return fmt.Errorf("crawler %q: the name %q does not begin with a letter or digit; write the product token of the User-Agent", c.Token, name)
		case len(name) > maxName:
			return fmt.Errorf("crawler %q: the name %q is longer than %d bytes; shorten the name", c.Token, name, maxName)
		case strings.TrimSpace(name) != name || strings.ContainsAny(name, "\r\n\t*();"):
			return fmt.Errorf("crawler %q: the name %q contains a character that is not allowed in a product token; remove the character", c.Token, name)
		case len(trimVersion(name)) < len(name):
			return fmt.Errorf("crawler %q: the name %q contains a version; write %s", c.Token, name, trimVersion(name))
		}
		if k := r.findKey(strings.ToLower(name), words.Hash(name)); k != nil && k.Kind != words.Unknown && k.Kind != words.Name {
			return fmt.Errorf("crawler %q: %q is a common word in User-Agents and cannot name a crawler; use a more specific name", c.Token, name)
		}
	}
	if c.Class >= numClasses || c.Class == Browser {
		return fmt.Errorf("crawler %q: class %s is not allowed for a crawler; use another class, such as search", c.Token, c.Class)
	}
	for _, f := range c.Fallback {
		if strings.EqualFold(f, c.Token) {
			return fmt.Errorf("crawler %q: falls back to itself; remove the token from fallback", c.Token)
		}
	}
	for _, suffix := range c.Verification.RDNS {
		if len(suffix) < 4 || suffix[0] != '.' || strings.Count(suffix, ".") < 2 {
			return fmt.Errorf("crawler %q: reverse DNS suffix %q must be a dot and a domain, such as .example.com", c.Token, suffix)
		}
	}
	return nil
}

// trimVersion returns a name without the slash and the version at its end: FooBot for "FooBot/2.1".
func trimVersion(name string) string {
	base, version, _ := strings.Cut(name, "/")
	if version = strings.TrimPrefix(version, "v"); version != "" && words.IsDigit(version[0]) {
		return base
	}
	return name
}

// vocabulary returns the words of words.json from which r was compiled. Ambiguous contains only the names
// in r.
func (r *Registry) vocabulary() words.Vocabulary {
	var v words.Vocabulary
	lists := map[words.Kind]*[]string{
		words.Browser: &v.Browser, words.Like: &v.Like, words.Compatible: &v.Compatible, words.Device: &v.Device,
		words.Generic: &v.Generic, words.Tool: &v.Tool,
	}
	for _, k := range r.keys {
		if list := lists[k.Kind]; list != nil {
			*list = append(*list, k.Text)
		}
		if k.Ambiguous {
			v.Ambiguous = append(v.Ambiguous, k.Text)
		}
	}
	return v
}
