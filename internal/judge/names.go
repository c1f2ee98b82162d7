package judge

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TokenPrefix is the prefix of a product token possibly missing from the registry, as in
// "token:NewBot".
const TokenPrefix = "token:"

// checkToken returns an error for a token that only robots.txt files use, and for a token that the
// registry lacks. word is the token as configured. If explicit is true, the word has [TokenPrefix]
// and the registry may lack the token. allowIdentities is true if the word could also be an
// identity.
func checkToken(registry *uaident.Registry, word, token string, explicit, allowIdentities bool) error {
	switch c := registry.Lookup(token); {
	case c != nil && isControlToken(c):
		return fmt.Errorf("no client sends the name %s, which is only for robots.txt; write the name of the crawler", c.Token)
	case c != nil, explicit:
		return nil
	}
	if isAddress(word) {
		return addressError(word)
	}
	if names := strings.Fields(word); len(names) > 1 && allWordsKnown(registry, names) {
		return fmt.Errorf("%q contains several names; write them without quotes: %s", word, strings.Join(names, " "))
	}
	if strings.Contains(word, ",") {
		return fmt.Errorf("%q contains a comma; separate names by spaces", word)
	}
	kinds := "not a class"
	if allowIdentities {
		kinds += ", not an identity"
	}
	hint := "the classes are " + ListClasses()
	if suggestions := SuggestNames(registry, word, allowIdentities); len(suggestions) > 0 {
		hint = "did you mean " + strings.Join(suggestions, " or ") + "?"
	}
	return fmt.Errorf("%q is %s and not a known crawler; %s (for a new crawler of that name write %s)", word, kinds, hint, quoteForCaddyfile(TokenPrefix+word))
}

// ParseToken returns the product token that a word of the configuration names. The registry must
// have the token, except after [TokenPrefix] or if registry is nil.
func ParseToken(registry *uaident.Registry, word string) (string, error) {
	token, meant := strings.CutPrefix(word, TokenPrefix)
	if _, isClass := uaident.ParseClass(word); isClass {
		return "", fmt.Errorf("%q is a class, but a robots.txt group is for a crawler; write a product token, for example GPTBot", word)
	}
	if registry == nil || meant || registry.Lookup(token) != nil {
		return token, nil
	}
	hint := "write a crawler's name as in robots.txt, such as GPTBot"
	if likely := nearestNames(registry, word, nil); len(likely) > 0 {
		hint = "did you mean " + strings.Join(likely, " or ") + "?"
	}
	return "", fmt.Errorf("%q is not a known crawler; %s (for a new crawler of that name write %s)", word, hint, quoteForCaddyfile(TokenPrefix+word))
}

// allWordsKnown reports whether each word is a class or a token of the registry.
func allWordsKnown(registry *uaident.Registry, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		_, isClass := uaident.ParseClass(word)
		return !isClass && registry.Lookup(word) == nil
	})
}

// isAddress reports whether a word is an IP address or a network such as 192.0.2.0/24.
func isAddress(word string) bool {
	_, err := netip.ParseAddr(word)
	if err != nil {
		_, err = netip.ParsePrefix(word)
	}
	return err == nil
}

func addressError(word string) error {
	return fmt.Errorf("%q is an address; only names and classes of crawlers are allowed here; for an address use a matcher, for example @others not client_ip %s", word, word)
}

// userAgentError returns the error for a word that is a whole User-Agent.
func userAgentError(word string) error {
	if c := uaident.Identify(word).Crawler; c != nil {
		return fmt.Errorf("%q is a whole User-Agent; write the product token, %s", word, quoteForCaddyfile(c.Token))
	}
	return fmt.Errorf("%q is a whole User-Agent of an unknown crawler; write a product token, for example Googlebot, or a class", word)
}

// invalidTokenError returns the error for a word with characters not allowed in a product token.
// The error says what to write.
func invalidTokenError(word, token string) error {
	name := strings.TrimSpace(token[:max(0, strings.IndexAny(token, "*/;()"))])
	switch {
	case strings.HasPrefix(word, "//"):
		return fmt.Errorf("%q is not a crawler; a comment begins with # and a space before it", word)
	case strings.HasPrefix(word, "/"):
		return fmt.Errorf("%q is a path, not a crawler; write paths in a matcher, as in robots_guard %s enforce", word, word)
	case isAddress(word):
		return addressError(word)
	case strings.Contains(word, "(") && strings.Contains(word, "/"):
		return userAgentError(word)
	case name != "":
		return fmt.Errorf("%q is not a product token: a version or a pattern is not allowed; write %s", word, name)
	}
	return fmt.Errorf("%q is not a class (%s) or a product token, for example Googlebot", word, ListClasses())
}

// isControlToken reports whether a crawler of the registry is a control token such as
// Google-Extended: robots.txt files have this name, but no request does.
func isControlToken(c *uaident.Crawler) bool { return c.RobotsOnly && c.Verification.WebBotAuth == "" }

// TokenHint returns a remark about a product token. The remark says that no client sends the token,
// or that the token is unknown and similar to a known one. It is "" for the token of a crawler, and
// for an unknown token without a similar token.
func TokenHint(registry *uaident.Registry, token string) string {
	switch c := registry.Lookup(token); {
	case c != nil && isControlToken(c):
		about := "no client sends the name " + c.Token + ", so a server cannot block requests by it"
		if c.Controls != "" {
			about += "; its group says " + c.Controls
		}
		return about
	case c != nil:
		return ""
	}
	if suggestions := nearestNames(registry, token, nil); len(suggestions) > 0 {
		return fmt.Sprintf("no known crawler is called %s; did you mean %s?", token, strings.Join(suggestions, " or "))
	}
	return ""
}

// quoteForCaddyfile returns a word as it must be written in a Caddyfile, quoted if it has a space.
func quoteForCaddyfile(word string) string {
	if strings.ContainsAny(word, " \t") {
		return strconv.Quote(word)
	}
	return word
}

// SuggestNames returns the names most similar to a misspelled word, at most a few. Candidates are
// the classes, the product tokens of the registry and, if allowIdentities is true, the identities.
// SuggestNames returns nil if no name is similar.
func SuggestNames(registry *uaident.Registry, word string, allowIdentities bool) []string {
	words := strings.Split(ListClasses(), ", ")
	if allowIdentities {
		for _, state := range verify.States() {
			words = append(words, state.String())
		}
	}
	if nearest := nearestNames(registry, word, words); nearest != nil {
		return nearest
	}
	return cachedRegistryNames(registry).tokensWithPrefix(text.FoldSpelling(word))
}
