package uaident

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// findRegisteredNames finds the registry names in the User-Agent and merges the words of each name
// (see [word]). crawler is the crawler's name with the highest rank. program is the first library
// or headless browser, which identifies a client without a crawler's name. A library takes
// precedence over its programming language: "Python/3.12 aiohttp/3.10" is aiohttp. Its entry falls
// back to the group for Python.
func (s *parsedUserAgent) findRegisteredNames(r *Registry) (crawler, program Identity) {
	bestRank, nameEnd := 0, uint16(0) // nameEnd is the end of the previous registry name.
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.start < nameEnd {
			continue // This is a word of the previous name.
		}
		if w.key < 0 && w.kind == words.Unknown {
			s.lookUpWithoutVersion(r, w)
			if w.key < 0 {
				s.lookUpWithoutDomain(r, w)
			}
		}
		if w.key < 0 || w.flags&afterLike != 0 {
			continue
		}
		c, token, isAmbiguous := s.findLongestName(r, w)
		if c == nil {
			continue
		}
		nameEnd = w.end
		rank := s.rankName(i)
		isLanguageLibrary := c.Class == Library && program.Class == Library && slices.Contains(c.Fallback, program.Crawler.Token)
		var isOtherProgram bool // This is true if the User-Agent is from another program with this name.
		switch {
		case c.App && w.flags&afterCompatible == 0 && !looksLikeRobot(token) && s.contactIndexFor(i) < 0:
			isOtherProgram = true
		case isAmbiguous && rank == rankOtherPosition:
			isOtherProgram = !s.hasOnlyMozillaAsBrowserWord() && !isLanguageLibrary
		case isAmbiguous && rank == rankFirstProduct:
			isOtherProgram = (s.hasDeviceWords() || s.isFromApp()) && s.contactIndexFor(i) < 0 && c.WildcardApplies()
		}
		if isOtherProgram {
			continue
		}
		id := Identity{Token: token, Crawler: c, Class: c.Class, Evidence: FromRegistry}
		switch {
		case c.Class == Library:
			id.Evidence = FromLibrary
			if (program.Crawler == nil || isLanguageLibrary) && (rank > rankOtherPosition || w.comment == 0) && s.canProductEnd(int(w.end)) {
				program = id
			}
		case c.Class == Headless:
			id.Evidence = FromHeadless
			if program.Crawler == nil {
				program = id
			}
		default:
			if c.WildcardApplies() {
				rank += rankFirstProduct
			}
			if rank > bestRank {
				crawler, bestRank, s.crawlerOffset = id, rank, w.start
			}
		}
	}
	return crawler, program
}

// hasDeviceWords reports whether the User-Agent contains Android or at least two words of browsers.
// Apps describe their device so: "Acme/9692 CFNetwork/1121.2.2 Darwin/19.3.0".
func (s *parsedUserAgent) hasDeviceWords() bool {
	return s.numBrowserWords > 1 || s.kindBits&kindBit(words.Device) != 0
}

// canProductEnd reports whether the name of a product can end at the offset end. Java
// is a product in "Java/17", but not in "Java(TM) Runtime".
func (s *parsedUserAgent) canProductEnd(end int) bool {
	return s.canNameEnd(end) && (end == len(s.ua) || s.ua[end] != '(')
}

// These are the ranks of a registry name by its position, in increasing order of precedence.
const (
	rankOtherPosition = 1 + iota
	rankAfterCompatible
	rankWithContact
	rankFirstProduct
)

// rankName returns the rank of the registry name that begins with word i.
func (s *parsedUserAgent) rankName(i int) int {
	w := &s.words[i]
	switch {
	case i == s.firstProductIndex() && !s.startsLikeBrowser():
		return rankFirstProduct
	case w.flags&inDevice != 0:
		return rankOtherPosition
	case s.contactIndexFor(i) >= 0:
		return rankWithContact
	case w.flags&afterCompatible != 0:
		return rankAfterCompatible
	}
	return rankOtherPosition
}

// findLongestName returns the crawler with the longest registry name that begins with w, or nil.
// findLongestName merges the words of the name (see [word]). isAmbiguous reports whether
// the name is in the list "weak" of words.json.
func (s *parsedUserAgent) findLongestName(r *Registry, w *word) (c *Crawler, token string, isAmbiguous bool) {
	k := &r.keys[w.key]
	for _, p := range k.Phrases {
		end := int(w.start) + len(p.Text)
		if hasFoldedPrefix(s.ua[w.start:], p.Text) && s.canWordEnd(end) &&
			(p.Exact == "" || p.Exact == s.ua[w.start:end]) {
			w.kind, w.end = words.Name, uint16(end)
			for i := range s.words[:s.numWords] {
				if v := &s.words[i]; v.start > w.start && v.start < w.end {
					v.flags |= notAProduct
				}
			}
			return &r.crawlers[p.Crawler], s.ua[w.start:end], false
		}
	}
	if k.Kind != words.Name {
		return nil, "", false
	}
	return &r.crawlers[k.Crawler], s.wordText(w), k.Ambiguous
}

// lookUpWithoutVersion looks up an unknown word without the version at its end: Nutch for Nutch-1.7
// and Nutch-1.7-SNAPSHOT, trendictionbot for trendictionbot0.5.0.
func (s *parsedUserAgent) lookUpWithoutVersion(r *Registry, w *word) {
	text := s.wordText(w)
	if len(text) > maxName { // The word is longer than any registry name.
		return
	}
	if i := versionOffset(text); i > 0 {
		if k := r.findKey(text[:i], words.Hash(text[:i])); k != nil && k.Kind == words.Name {
			s.lookUpPrefix(r, w, i)
		}
	}
}

// lookUpWithoutDomain looks up an unknown domain name without its top-level domain: HostTracker for
// HostTracker.com. Libraries and headless browsers are excluded, because a site with the name of
// such a program is unrelated to the program. Ambiguous names of crawlers to which the `*` group
// applies are excluded except after "compatible;", because a rule for the crawler must not block
// the clients of an unrelated site.
func (s *parsedUserAgent) lookUpWithoutDomain(r *Registry, w *word) {
	text := s.wordText(w)
	i := strings.IndexByte(text, '.')
	if i < 0 || i > maxName || len(text)-i > len(".info") || s.isURLWithoutScheme(w) {
		return
	}
	k := r.findKey(text[:i], words.Hash(text[:i]))
	if k == nil || k.Kind != words.Name || !isDomain(text) {
		return
	}
	c := &r.crawlers[k.Crawler]
	if c.Class == Library || c.Class == Headless || k.Ambiguous && c.WildcardApplies() && w.flags&afterCompatible == 0 {
		return
	}
	s.lookUpPrefix(r, w, i)
}

// isURLWithoutScheme reports whether a domain name is the start of a URL without a scheme, as in
// "+acme.example/about", and not a product.
func (s *parsedUserAgent) isURLWithoutScheme(w *word) bool {
	start, end := int(w.start), int(w.end)
	return start > 0 && s.ua[start-1] == '+' || end+1 < len(s.ua) && s.ua[end] == '/' && words.Fold[s.ua[end+1]]&words.Letter != 0
}

// versionOffset returns the offset at which a name ends and its version begins, or 0 for a word
// without a version. The version includes the separator: 5 for Nutch-1.7. A version without a
// separator must contain a dot: Foo1.7. A letter before the first dot means that there is no
// version: Foo-2-Bar. A UUID, or a separator at the end of the word, is a version too.
func versionOffset(text string) int {
	for i := 1; i+1 < len(text); i++ {
		if words.IsDigit(text[i]) && words.Fold[text[i-1]]&words.Letter != 0 {
			start := i
			for i+2 < len(text) && words.IsDigit(text[i]) {
				i++
			}
			if text[i] == '.' && words.IsDigit(text[i+1]) {
				return start
			}
		}
		if text[i] != '-' && text[i] != '_' {
			continue
		}
		if isUUID(text[i+1:]) {
			return i
		}
		if !words.IsDigit(text[i+1]) {
			continue
		}
		start := i
		for i++; words.Fold[text[i]]&words.Letter == 0; i++ {
			if text[i] == '.' || i+1 == len(text) {
				return start
			}
		}
	}
	if trimmed := strings.TrimRight(text, "-_"); len(trimmed) < len(text) {
		return len(trimmed)
	}
	return 0
}

// isUUID reports whether text begins with a UUID (RFC 9562 section 4).
func isUUID(text string) bool {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(text) < len(form) || text[8] != '-' {
		return false
	}
	for i := range len(form) {
		if (form[i] == '-') != (text[i] == '-') || form[i] == 'x' && !words.IsHex(text[i]) {
			return false
		}
	}
	return true
}

// lookUpPrefix gives a word the key and kind of its first n bytes. The new end of the word is the
// first dot of its version: Nutch-1 for Nutch-1.7.
func (s *parsedUserAgent) lookUpPrefix(r *Registry, w *word, n int) {
	end := w.start + uint16(len(cutVersion(s.wordText(w))))
	w.end = w.start + uint16(n)
	w.hash = words.Hash(s.wordText(w))
	s.lookUp(r, w)
	w.end = end
}

// cutVersion returns a word up to the first dot before a digit.
func cutVersion(w string) string {
	for i := 1; i+1 < len(w); i++ {
		if w[i] == '.' && words.IsDigit(w[i+1]) {
			return w[:i]
		}
	}
	return w
}
