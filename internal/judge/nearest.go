package judge

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// nearestNames returns the names that are nearest to a word, among some words and
// the product tokens of a registry.
func nearestNames(registry *uaident.Registry, word string, words []string) []string {
	folded := text.Letters(word)
	if len(folded) < 2 || len(folded) > maxCompared {
		return nil
	}
	if begun := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(text.Letters(w), folded) }); len(begun) > 0 {
		return begun[:min(len(begun), maxLikely)]
	}
	n := nearest{folded: folded, set: text.Set(folded), distance: mostEdits(len(folded)) + 1}
	for _, w := range words {
		n.compare(newKnownName(w, w, 0))
	}
	all := namesOf(registry)
	for _, name := range all.names {
		n.compare(name)
	}
	if n.distance > 0 {
		if of := all.ofOperator[folded]; of != nil {
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
	set            uint32 // of its letters
	distance, rank int    // of those found
	found          []string
}

// compare looks at a name, by which another may be known. Among equally near ones
// those of the least rank are taken.
func (n *nearest) compare(name *knownName) {
	most := min(n.distance, mostEdits(len(n.folded)))
	if diff := len(name.letters) - len(n.folded); diff > most || -diff > most || text.Edits(name.set, n.set) > most {
		return
	}
	switch d := text.Distance(n.folded, name.letters, n.distance+1); {
	case d > mostEdits(len(n.folded)) || cmp.Or(cmp.Compare(d, n.distance), cmp.Compare(name.rank, n.rank)) > 0 && n.found != nil:
	case d < n.distance || name.rank < n.rank:
		n.distance, n.rank, n.found = d, name.rank, []string{name.known}
	case len(n.found) < maxLikely && !slices.Contains(n.found, name.known):
		n.found = append(n.found, name.known)
	}
}

// knownName is a name by its letters, with the one by which it is proposed.
type knownName struct {
	letters, known string
	set            uint32 // of the letters
	rank           int    // of equally near ones the least is meant
}

func newKnownName(name, known string, rank int) *knownName {
	letters := text.Letters(name)
	return &knownName{letters, known, text.Set(letters), rank}
}

// knownNames are the names in a registry, and its crawlers by the letters of their operator.
type knownNames struct {
	names      []*knownName
	ofOperator map[string][]string
}

// namesOf returns the names in a registry. Those of the built-in one are kept: tables with
// hundreds of thousands of names are compared with it.
func namesOf(registry *uaident.Registry) *knownNames {
	if registry == uaident.Default() {
		return builtInNames()
	}
	return newKnownNames(registry)
}

var builtInNames = sync.OnceValue(func() *knownNames { return newKnownNames(uaident.Default()) })

// begunBy returns the crawlers whose names begin with some letters, those that their operators
// document first.
func (all *knownNames) begunBy(folded string) (found []string) {
	const fewest = 4 // letters; less begin the names of too many
	for rank := 1; rank <= 2 && len(folded) >= fewest; rank++ {
		for _, name := range all.names {
			if name.rank == rank && len(found) < maxOfOperator && strings.HasPrefix(name.letters, folded) && !slices.Contains(found, name.known) {
				found = append(found, name.known)
			}
		}
	}
	return found
}

func newKnownNames(registry *uaident.Registry) *knownNames {
	all := &knownNames{ofOperator: make(map[string][]string)}
	for _, c := range registry.Crawlers() {
		if c.RobotsOnly {
			continue
		}
		rank := 1
		if c.Provenance != uaident.Documented {
			rank = 2
		}
		for _, name := range append([]string{c.Token}, c.Aliases...) {
			all.names = append(all.names, newKnownName(name, c.Token, rank))
		}
	}
	isEngine := func(c *uaident.Crawler) bool { return slices.Contains(engines, c.Token) }
	for _, is := range []func(*uaident.Crawler) bool{
		isEngine, // which is what is meant by Google
		func(c *uaident.Crawler) bool { return !isEngine(c) && c.Provenance == uaident.Documented },
		func(c *uaident.Crawler) bool { return !isEngine(c) && c.Provenance == uaident.Dataset },
	} {
		for _, c := range registry.Crawlers() {
			if !is(&c) || c.RobotsOnly {
				continue
			}
			if operator := text.Letters(c.Operator); len(all.ofOperator[operator]) < maxOfOperator {
				all.ofOperator[operator] = append(all.ofOperator[operator], c.Token)
			}
		}
	}
	return all
}
