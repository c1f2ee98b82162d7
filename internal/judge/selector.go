package judge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// ClassSet is a set of classes of crawlers. The zero value is the empty set.
type ClassSet uint32

// Has reports whether a class is in the set.
func (s ClassSet) Has(c uaident.Class) bool { return s&(1<<c) != 0 }

// ParseClasses returns the classes named by the arguments of the option wildcard.
func ParseClasses(words []string) (set ClassSet, err error) {
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

// SuggestClass returns a hint for the error about a misspelled class: "did you mean" with the most
// similar class, or the list of all classes.
func SuggestClass(misspelt string) string {
	if nearest := text.Nearest(misspelt, strings.Split(ListClasses(), ", ")); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "the classes are " + ListClasses()
}

// ListClasses returns the names of all classes except browser, separated by commas, for an error
// message.
func ListClasses() string {
	var words []string
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			words = append(words, c.String())
		}
	}
	return strings.Join(words, ", ")
}

// IdentitySet is a set of identities. Zero means any identity.
type IdentitySet uint8

// Has reports whether an identity is in the set.
func (s IdentitySet) Has(i verify.State) bool { return s == 0 || s&(1<<i) != 0 }

// Selector selects clients by class and product token. It also lists identities, which the caller
// checks.
type Selector struct {
	// Identities are the identities in the list. Zero means any identity.
	Identities IdentitySet
	// UnregisteredTokens are the tokens in the list that the registry lacks.
	UnregisteredTokens []string
	classes            ClassSet
	tokens             map[string]bool // tokens are product tokens in lower case.
}

// ParseSelector returns a selector for a list of classes, product tokens of the registry and, if
// allowIdentities is true, identities. The registry may lack a token after [TokenPrefix]. If
// registry is nil, it may lack all tokens, and ParseSelector reports only errors independent of the
// registry.
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

// Matches reports whether the selector lists the class or the token of a client. The caller checks
// Identities.
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

// containsToken reports whether the selector lists a token. It does not allocate for ASCII tokens
// of at most 64 bytes.
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

// ClientSet is the set of clients listed by an option such as exempt. It lists clients by their
// claimed name, or by their verified name only.
type ClientSet struct {
	claimed  Selector // These clients are selected by their claimed name.
	verified Selector // These clients are selected only if their name is verified.
}

// ParseClientSet returns the set for the lists of claimed and of verified clients in an option.
func ParseClientSet(registry *uaident.Registry, claimed, verified []string) (c ClientSet, err error) {
	if c.claimed, err = ParseSelector(registry, claimed, false); err != nil {
		return c, err
	}
	c.verified, err = ParseSelector(registry, verified, false)
	return c, err
}

// Matches reports whether the set has a client. A spoofed client is never in the set.
func (c *ClientSet) Matches(client uaident.Identity, identity verify.State) bool {
	return identity != verify.Spoofed && c.claimed.Matches(client) || identity == verify.Verified && c.verified.Matches(client)
}

// LookupCrawler returns the crawler that a word of the configuration names. LookupCrawler returns
// nil for a class and for a token that the registry lacks.
func LookupCrawler(registry *uaident.Registry, word string) *uaident.Crawler {
	if _, isClass := uaident.ParseClass(word); isClass {
		return nil
	}
	return registry.Lookup(strings.TrimPrefix(word, TokenPrefix))
}

// FoldWord returns a class or product token of the configuration in lower case and without
// [TokenPrefix], for comparison.
func FoldWord(word string) string { return FoldName(strings.TrimPrefix(word, TokenPrefix)) }

// FoldName returns a name in lower case.
func FoldName(name string) string { return strings.ToLower(name) }
