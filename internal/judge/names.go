package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// MeantToken begins a word that is a product token which nobody need know.
const MeantToken = "token:"

// checkToken tells what is wrong with a token for which word stands: that nothing
// would ever be chosen by it. One that is meant need not be known.
func checkToken(registry *uaident.Registry, word, token string, meant, identities bool) error {
	switch c := registry.Lookup(token); {
	case c != nil && isControl(c):
		return fmt.Errorf("no request carries the name %s, which is for a robots.txt alone; name the crawler itself", c.Token)
	case c != nil, meant:
		return nil
	}
	if strings.Contains(word, ",") {
		return fmt.Errorf("%q has a comma in it; separate names by spaces", word)
	}
	kinds := "no class"
	if identities {
		kinds += ", no identity"
	}
	hint := "the classes are " + ClassWords()
	if likely := Likely(registry, word, identities); len(likely) > 0 {
		hint = "did you mean " + strings.Join(likely, " or ") + "?"
	}
	return fmt.Errorf("%q is %s and no known crawler; %s (for a new crawler of that name write %s)", word, kinds, hint, quoted(MeantToken+word))
}

// isControl reports whether a name is one that only a robots.txt has.
func isControl(c *uaident.Crawler) bool { return c.RobotsOnly && c.Verification.WebBotAuth == "" }

// AboutToken tells what somebody does not know who asks for verdicts on a product
// token: that no request carries it, or which one it is likely meant to be. It is
// "" for the token of a crawler, and for one that is near to none.
func AboutToken(registry *uaident.Registry, token string) string {
	switch c := registry.Lookup(token); {
	case c != nil && isControl(c):
		about := "no request carries the name " + c.Token + ", so a server cannot block anything by it"
		if c.Controls != "" {
			about += "; its group says " + c.Controls
		}
		return about
	case c != nil:
		return ""
	}
	if likely := nearestNames(registry, token, nil); len(likely) > 0 {
		return fmt.Sprintf("no known crawler is called %s; did you mean %s?", token, strings.Join(likely, " or "))
	}
	return ""
}

// quoted is a word as it stands in a Caddyfile.
func quoted(word string) string {
	if strings.ContainsAny(word, " \t") {
		return strconv.Quote(word)
	}
	return word
}

// Likely returns the names that a misspelt one is most likely meant to be, at most
// a few of equal likelihood: classes, product tokens of the registry and, if
// they are allowed, identities. It is nil if no name is near.
func Likely(registry *uaident.Registry, word string, identities bool) []string {
	words := strings.Split(ClassWords(), ", ")
	if identities {
		for _, state := range verify.States() {
			words = append(words, state.String())
		}
	}
	return nearestNames(registry, word, words)
}

// nearestNames returns the names that are nearest to a word, among some words and
// the product tokens of a registry.
func nearestNames(registry *uaident.Registry, word string, words []string) []string {
	folded := spelling.Letters(word)
	if len(folded) < 2 || len(folded) > maxCompared {
		return nil
	}
	if begun := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(spelling.Letters(w), folded) }); len(begun) > 0 {
		return begun[:min(len(begun), maxLikely)]
	}
	n := nearest{folded: folded, distance: mostEdits(len(folded)) + 1}
	for _, w := range words {
		n.compare(w, w, 0)
	}
	for _, c := range registry.Crawlers() {
		if c.RobotsOnly {
			continue
		}
		rank := 1
		if c.Provenance != uaident.Documented {
			rank = 2
		}
		for _, name := range append([]string{c.Token}, c.Aliases...) {
			n.compare(name, c.Token, rank)
		}
	}
	if n.distance > 0 {
		if of := ofOperator(registry, folded); of != nil {
			return of
		}
	}
	return n.found
}

const (
	maxLikely     = 3
	maxOfOperator = 5
	maxCompared   = 40 // letters; no known name that anybody misspells is longer
)

// mostEdits returns how far a name of so many letters may be from the one that is
// meant: short names are near to too many others.
func mostEdits(letters int) int {
	switch {
	case letters < 3:
		return 0
	case letters < 9:
		return 1
	case letters < 14:
		return 2
	}
	return 3
}

// nearest are the names that are nearest to another.
type nearest struct {
	folded         string
	distance, rank int // of those found
	found          []string
}

// compare looks at a name, by which another may be known. Among equally near ones
// those of the least rank are taken.
func (n *nearest) compare(name, known string, rank int) {
	letters := spelling.Letters(name)
	if diff := len(letters) - len(n.folded); diff > n.distance || -diff > n.distance {
		return
	}
	switch d := spelling.Distance(n.folded, letters, n.distance+1); {
	case d > mostEdits(len(n.folded)) || cmp.Or(cmp.Compare(d, n.distance), cmp.Compare(rank, n.rank)) > 0 && n.found != nil:
	case d < n.distance || rank < n.rank:
		n.distance, n.rank, n.found = d, rank, []string{known}
	case len(n.found) < maxLikely && !slices.Contains(n.found, known):
		n.found = append(n.found, known)
	}
}

// ofOperator returns crawlers of a company, whose name is written as a crawler's:
// those that it documents first.
func ofOperator(registry *uaident.Registry, folded string) (tokens []string) {
	for _, provenance := range []uaident.Provenance{uaident.Documented, uaident.Dataset} {
		for _, c := range registry.Crawlers() {
			if c.Provenance == provenance && !c.RobotsOnly && len(tokens) < maxOfOperator && spelling.Letters(c.Operator) == folded {
				tokens = append(tokens, c.Token)
			}
		}
	}
	return tokens
}
