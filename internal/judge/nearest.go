package judge

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// nearestNames returns the names most similar to word, among words and the product tokens of a
// registry. nearestNames returns nil if no name is similar.
func nearestNames(registry *uaident.Registry, word string, words []string) []string {
	folded := text.FoldSpelling(word)
	if len(folded) < 2 || len(folded) > maxCompared {
		return nil
	}
	if prefixed := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(text.FoldSpelling(w), folded) }); len(prefixed) > 0 {
		return prefixed[:min(len(prefixed), maxSuggestions)]
	}
	search := nameSearch{folded: folded, letterSet: text.ByteSet(folded), distance: maxEdits(len(folded)) + 1}
	for _, w := range words {
		search.compareName(newRegistryName(w, w, 0))
	}
	registryNames := cachedRegistryNames(registry)
	for _, name := range registryNames.names {
		search.compareName(name)
	}
	if search.distance > 0 {
		if operatorTokens := registryNames.byOperator[folded]; operatorTokens != nil {
			return operatorTokens
		}
	}
	return search.nearest
}

const (
	maxSuggestions = 3
	maxTokens      = 5
	maxCompared    = 40 // This is a number of letters. Longer words are not compared.
)

// maxEdits returns the largest edit distance at which a name is suggested for a misspelled word
// with this number of letters. The distance is small for short words, which are similar to many
// names.
func maxEdits(letters int) int {
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

// nameSearch collects the names most similar to a word.
type nameSearch struct {
	folded         string
	letterSet      uint32 // letterSet is the set of the letters in folded.
	distance, rank int    // These are the edit distance and the rank of the names in nearest.
	nearest        []string
}

// compareName adds a name to the nearest names if it is at least as similar to the word as these.
// Of equally similar names, those with the lowest rank stay.
func (n *nameSearch) compareName(name *comparedName) {
	limit := min(n.distance, maxEdits(len(n.folded)))
	if diff := len(name.letters) - len(n.folded); diff > limit || -diff > limit || text.MinEdits(name.letterSet, n.letterSet) > limit {
		return
	}
	switch d := text.EditDistance(n.folded, name.letters, n.distance+1); {
	case d > maxEdits(len(n.folded)) || cmp.Or(cmp.Compare(d, n.distance), cmp.Compare(name.rank, n.rank)) > 0 && n.nearest != nil:
	case d < n.distance || name.rank < n.rank:
		n.distance, n.rank, n.nearest = d, name.rank, []string{name.token}
	case len(n.nearest) < maxSuggestions && !slices.Contains(n.nearest, name.token):
		n.nearest = append(n.nearest, name.token)
	}
}

// comparedName is a class, an identity, or the token or an alias of a crawler, in the form for
// comparison. It has the name to suggest.
type comparedName struct {
	letters, token string
	letterSet      uint32 // letterSet is the set of the letters in the name.
	rank           int    // Of equally similar names, the one with the lowest rank is suggested.
}

func newRegistryName(name, token string, rank int) *comparedName {
	letters := text.FoldSpelling(name)
	return &comparedName{letters, token, text.ByteSet(letters), rank}
}

// registryNames has the names in a registry, and the tokens of its crawlers by their operator.
type registryNames struct {
	names      []*comparedName
	byOperator map[string][]string
}

// cachedRegistryNames returns the names in a registry. Only the names of the built-in registry are
// cached, because tables with hundreds of thousands of names are compared with them.
func cachedRegistryNames(registry *uaident.Registry) *registryNames {
	if registry == uaident.Default() {
		return builtInNames()
	}
	return newRegistryNames(registry)
}

var builtInNames = sync.OnceValue(func() *registryNames { return newRegistryNames(uaident.Default()) })

// tokensWithPrefix returns the tokens of the crawlers with a name that begins with folded, in the
// form of [text.FoldSpelling]. Crawlers documented by their operators come first.
func (all *registryNames) tokensWithPrefix(folded string) (found []string) {
	const minLetters = 4 // Fewer letters begin the names of too many crawlers.
	for rank := 1; rank <= 2 && len(folded) >= minLetters; rank++ {
		for _, name := range all.names {
			if name.rank == rank && len(found) < maxTokens && strings.HasPrefix(name.letters, folded) && !slices.Contains(found, name.token) {
				found = append(found, name.token)
			}
		}
	}
	return found
}

func newRegistryNames(registry *uaident.Registry) *registryNames {
	names := &registryNames{byOperator: make(map[string][]string)}
	for _, c := range registry.Crawlers() {
		if c.RobotsOnly {
			continue
		}
		rank := 1
		if c.Provenance != uaident.Documented {
			rank = 2
		}
		for _, name := range append([]string{c.Token}, c.Aliases...) {
			names.names = append(names.names, newRegistryName(name, c.Token, rank))
		}
	}
	isEngine := func(c *uaident.Crawler) bool { return slices.Contains(searchEngineTokens, c.Token) }
	for _, matches := range []func(*uaident.Crawler) bool{
		isEngine, // For example, "Google" suggests Googlebot first.
		func(c *uaident.Crawler) bool { return !isEngine(c) && c.Provenance == uaident.Documented },
		func(c *uaident.Crawler) bool { return !isEngine(c) && c.Provenance == uaident.Dataset },
	} {
		for _, c := range registry.Crawlers() {
			if !matches(&c) || c.RobotsOnly {
				continue
			}
			if operator := text.FoldSpelling(c.Operator); len(names.byOperator[operator]) < maxTokens {
				names.byOperator[operator] = append(names.byOperator[operator], c.Token)
			}
		}
	}
	return names
}
