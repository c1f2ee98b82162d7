package judge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Classes is a set of classes.
type Classes uint32

// Has reports whether a class is in the set.
func (s Classes) Has(c uaident.Class) bool { return s&(1<<c) != 0 }

// ClassesOf returns the set of some classes.
func ClassesOf(classes ...uaident.Class) (set Classes) {
	for _, c := range classes {
		set |= 1 << c
	}
	return set
}

// ParseClasses reads the words of the wildcard option.
func ParseClasses(words []string) (set Classes, err error) {
	for _, word := range words {
		c, ok := uaident.ParseClass(word)
		if !ok || c == uaident.Browser {
			return 0, fmt.Errorf("%q is no class that can be judged; %s", word, ClassHint(word))
		}
		if set.Has(c) {
			return 0, fmt.Errorf("%s is named twice", word)
		}
		set |= 1 << c
	}
	return set, nil
}

// ClassHint tells which class a misspelt one may stand for.
func ClassHint(misspelt string) string {
	if near := text.Near(misspelt, strings.Split(ClassWords(), ", ")); near != "" {
		return "did you mean " + near + "?"
	}
	return "the classes are " + ClassWords()
}

// ClassWords lists the classes for an error message.
func ClassWords() string {
	var words []string
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			words = append(words, c.String())
		}
	}
	return strings.Join(words, ", ")
}

// Identities is a set of identities, 0 for any.
type Identities uint8

// Has reports whether an identity is in the set.
func (s Identities) Has(i verify.State) bool { return s == 0 || s&(1<<i) != 0 }

// Selector picks clients by class, by product token and by identity.
type Selector struct {
	// Identities are those that were listed.
	Identities Identities
	// New are the tokens that the registry does not know.
	New     []string
	classes Classes
	tokens  map[string]bool // folded
}

// ParseSelector reads classes, product tokens of a registry and, if those are
// allowed, identities. A token behind [MeantToken] need not be known. With a nil registry
// none need be: that finds only what would be wrong with any registry.
func ParseSelector(registry *uaident.Registry, words []string, identities bool) (Selector, error) {
	s := Selector{tokens: make(map[string]bool)}
	for _, word := range words {
		token, meant := strings.CutPrefix(word, MeantToken)
		if i, ok := verify.ParseState(word); ok && identities {
			s.Identities |= 1 << i
			continue
		}
		if c, ok := uaident.ParseClass(word); ok {
			if c == uaident.Browser {
				return Selector{}, fmt.Errorf("browsers are never judged; remove %q", word)
			}
			s.classes |= 1 << c
			continue
		}
		if strings.TrimSpace(token) == "" || strings.ContainsAny(token, "*/;()") && uaident.Default().Lookup(token) == nil {
			return Selector{}, errNoToken(word, token)
		}
		if registry != nil {
			if err := checkToken(registry, word, token, meant, identities); err != nil {
				return Selector{}, err
			}
			if c := registry.Lookup(token); c != nil {
				token = c.Token
			} else {
				s.New = append(s.New, token)
			}
		}
		s.tokens[FoldName(token)] = true
	}
	return s, nil
}

// IsEmpty reports whether the selector names neither a class nor a token.
func (s *Selector) IsEmpty() bool { return s.classes == 0 && len(s.tokens) == 0 }

// Has reports whether the selector picks a client by class or token.
func (s *Selector) Has(id uaident.Identity) bool {
	if s.classes.Has(id.Class) {
		return true
	}
	if len(s.tokens) == 0 {
		return false
	}
	name := id.Name()
	return s.hasToken(name) || name != id.Token && s.hasToken(id.Token)
}

// hasToken reports whether a token is listed. For one of ASCII, as all in the registry
// are, it does not allocate.
func (s *Selector) hasToken(token string) bool {
	var folded [64]byte
	if len(token) > len(folded) {
		return s.tokens[FoldName(token)]
	}
	for i := range len(token) {
		c := token[i]
		switch {
		case c >= utf8.RuneSelf:
			return s.tokens[FoldName(token)]
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		folded[i] = c
	}
	return s.tokens[string(folded[:len(token)])]
}

// Clients are those that an option of a site lists.
type Clients struct {
	claimed  Selector // by what they say
	verified Selector // only where that is verified
}

// ParseClients reads both lists of an option.
func ParseClients(registry *uaident.Registry, claimed, verified []string) (c Clients, err error) {
	if c.claimed, err = ParseSelector(registry, claimed, false); err != nil {
		return c, err
	}
	c.verified, err = ParseSelector(registry, verified, false)
	return c, err
}

// Has reports whether a client of an identity is listed. One under a false name
// never is.
func (c *Clients) Has(client uaident.Identity, identity verify.State) bool {
	return identity != verify.Spoofed && c.claimed.Has(client) || identity == verify.Verified && c.verified.Has(client)
}

// CrawlerOf returns the crawler that a word of a configuration names, nil for a class and for a
// token that nobody knows.
func CrawlerOf(registry *uaident.Registry, word string) *uaident.Crawler {
	if _, isClass := uaident.ParseClass(word); isClass {
		return nil
	}
	return registry.Lookup(strings.TrimPrefix(word, MeantToken))
}

// FoldWord makes words comparable that mean the same class or product token.
func FoldWord(word string) string { return FoldName(strings.TrimPrefix(word, MeantToken)) }

// FoldName makes names comparable that differ in case only.
func FoldName(name string) string { return strings.ToLower(name) }
