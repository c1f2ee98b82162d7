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

// ParseClasses parses the arguments of the wildcard option.
func ParseClasses(words []string) (set Classes, err error) {
	for _, word := range words {
		c, ok := uaident.ParseClass(word)
		if !ok || c == uaident.Browser {
			return 0, fmt.Errorf("%q is not a class of crawlers; %s", word, SuggestClass(word))
		}
		if set.Has(c) {
			return 0, fmt.Errorf("%s is named twice", word)
		}
		set |= 1 << c
	}
	return set, nil
}

// SuggestClass returns a hint for a misspelled class: the most similar class, or all classes.
func SuggestClass(misspelt string) string {
	if nearest := text.Nearest(misspelt, strings.Split(ListClasses(), ", ")); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "the classes are " + ListClasses()
}

// ListClasses lists the classes for an error message.
func ListClasses() string {
	var words []string
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			words = append(words, c.String())
		}
	}
	return strings.Join(words, ", ")
}

// Identities is a set of identities. Zero means any identity.
type Identities uint8

// Has reports whether an identity is in the set.
func (s Identities) Has(i verify.State) bool { return s == 0 || s&(1<<i) != 0 }

// Selector selects clients by class, product token and identity.
type Selector struct {
	// Identities are the listed identities.
	Identities Identities
	// UnregisteredTokens are the listed tokens missing from the registry.
	UnregisteredTokens []string
	classes            Classes
	tokens             map[string]bool // in lower case
}

// ParseSelector parses classes, product tokens of the registry and, if allowed, identities. A token
// after [TokenPrefix] may be unknown. If registry is nil, all tokens may be unknown, and
// ParseSelector reports only errors independent of the registry.
func ParseSelector(registry *uaident.Registry, words []string, allowIdentities bool) (Selector, error) {
	s := Selector{tokens: make(map[string]bool)}
	for _, word := range words {
		token, explicit := strings.CutPrefix(word, TokenPrefix)
		if i, ok := verify.ParseState(word); ok && allowIdentities {
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
			return Selector{}, invalidTokenError(word, token)
		}
		if registry != nil {
			if err := checkToken(registry, word, token, explicit, allowIdentities); err != nil {
				return Selector{}, err
			}
			if c := registry.Lookup(token); c != nil {
				token = c.Token
			} else {
				s.UnregisteredTokens = append(s.UnregisteredTokens, token)
			}
		}
		s.tokens[FoldName(token)] = true
	}
	return s, nil
}

// IsEmpty reports whether the selector names neither a class nor a token.
func (s *Selector) IsEmpty() bool { return s.classes == 0 && len(s.tokens) == 0 }

// Matches reports whether the selector has the class or the token of a client.
func (s *Selector) Matches(id uaident.Identity) bool {
	if s.classes.Has(id.Class) {
		return true
	}
	if len(s.tokens) == 0 {
		return false
	}
	name := id.Name()
	return s.containsToken(name) || name != id.Token && s.containsToken(id.Token)
}

// containsToken reports whether a token is listed. It does not allocate for ASCII tokens, like all
// tokens of the registry.
func (s *Selector) containsToken(token string) bool {
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

// ClientSet are the clients listed by an option of a site.
type ClientSet struct {
	claimed  Selector // by their claimed name
	verified Selector // only if the name is verified
}

// ParseClientSet parses both lists of an option.
func ParseClientSet(registry *uaident.Registry, claimed, verified []string) (c ClientSet, err error) {
	if c.claimed, err = ParseSelector(registry, claimed, false); err != nil {
		return c, err
	}
	c.verified, err = ParseSelector(registry, verified, false)
	return c, err
}

// Matches reports whether a client is listed. A spoofed client never is.
func (c *ClientSet) Matches(client uaident.Identity, identity verify.State) bool {
	return identity != verify.Spoofed && c.claimed.Matches(client) || identity == verify.Verified && c.verified.Matches(client)
}

// LookupCrawler returns the crawler for a word of a configuration. It returns nil for a class and
// for an unknown token.
func LookupCrawler(registry *uaident.Registry, word string) *uaident.Crawler {
	if _, isClass := uaident.ParseClass(word); isClass {
		return nil
	}
	return registry.Lookup(strings.TrimPrefix(word, TokenPrefix))
}

// FoldWord returns a class or product token in the form for comparison.
func FoldWord(word string) string { return FoldName(strings.TrimPrefix(word, TokenPrefix)) }

// FoldName returns a name in lower case.
func FoldName(name string) string { return strings.ToLower(name) }
