package uaident

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// findRegistered finds registry names in the User-Agent. crawler is the best match of a
// crawler. fallback is the first match of a library or headless browser, used if no crawler
// matches. After the name of a programming language a library of that language takes
// precedence: "Python/3.12 aiohttp/3.10" is aiohttp. Its entry falls back to the group for
// Python.
func (s *parsedUserAgent) findRegistered(r *Registry) (crawler, fallback Identity) {
	bestRank, nameEnd := 0, uint16(0) // end of the last name with several words
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.start < nameEnd {
			continue // the word is part of that name
		}
		if w.key < 0 && w.kind == words.Unknown {
			s.retryWithoutVersion(r, w)
			if w.key < 0 {
				s.retryWithoutDomain(r, w)
			}
		}
		if w.key < 0 || w.flags&afterLike != 0 {
			continue
		}
		c, token, isWeak := s.registeredNameAt(r, w)
		if c == nil {
			continue
		}
		nameEnd = w.end
		rank := s.nameRank(i)
		isLanguageLibrary := c.Class == Library && fallback.Class == Library && slices.Contains(c.Fallback, fallback.Crawler.Token)
		if isWeak && rank == rankElsewhere && !s.hasOnlyMozilla() && !isLanguageLibrary ||
			isWeak && rank == rankFirstProduct && (s.hasDeviceWords() || s.isApp()) && s.contactOfProduct(i) < 0 && c.WildcardApplies() ||
			c.App && w.flags&afterCompatible == 0 && !looksLikeRobot(token) && s.contactOfProduct(i) < 0 {
			continue
		}
		id := Identity{Token: token, Crawler: c, Class: c.Class, Evidence: FromRegistry}
		switch {
		case c.Class == Library:
			id.Evidence = FromLibrary
			if (fallback.Crawler == nil || isLanguageLibrary) && (rank > rankElsewhere || w.comment == 0) && s.endsLikeProduct(int(w.end)) {
				fallback = id
			}
		case c.Class == Headless:
			id.Evidence = FromHeadless
			if fallback.Crawler == nil {
				fallback = id
			}
		default:
			if c.WildcardApplies() {
				rank += rankFirstProduct
			}
			if rank > bestRank {
				crawler, bestRank, s.registeredOffset = id, rank, w.start
			}
		}
	}
	return crawler, fallback
}

// hasDeviceWords reports whether a User-Agent names the system of a device, as apps do: "Acme/9692
// CFNetwork/1121.2.2 Darwin/19.3.0".
func (s *parsedUserAgent) hasDeviceWords() bool {
	return s.numStopWords > 1 || s.signBits&kindSign(words.Device) != 0
}

// endsLikeProduct reports whether a name that ends at end is a whole product: "Java/17", but
// not "Java(TM) Runtime".
func (s *parsedUserAgent) endsLikeProduct(end int) bool {
	return s.nameCanEndAt(end) && (end == len(s.ua) || s.ua[end] != '(')
}

// Positions of a name, in increasing order of precedence.
const (
	rankElsewhere = 1 + iota
	rankAfterCompatible
	rankWithContact
	rankFirstProduct
)

func (s *parsedUserAgent) nameRank(i int) int {
	w := &s.words[i]
	switch {
	case i == s.firstProduct() && !s.startsLikeBrowser():
		return rankFirstProduct
	case w.flags&inDevice != 0:
		return rankElsewhere
	case s.contactOfProduct(i) >= 0:
		return rankWithContact
	case w.flags&afterCompatible != 0:
		return rankAfterCompatible
	}
	return rankElsewhere
}

// registeredNameAt returns the crawler with the longest name that begins at w.
func (s *parsedUserAgent) registeredNameAt(r *Registry, w *word) (c *Crawler, token string, weak bool) {
	k := &r.keys[w.key]
	for _, p := range k.Phrases {
		end := int(w.start) + len(p.Text)
		if hasFoldedPrefix(s.ua[w.start:], p.Text) && s.wordEndsAt(end) &&
			(p.Exact == "" || p.Exact == s.ua[w.start:end]) {
			w.kind, w.end = words.Name, uint16(end)
			for i := range s.words[:s.numWords] {
				if v := &s.words[i]; v.start > w.start && v.start < w.end {
					v.flags |= inVersion
				}
			}
			return &r.crawlers[p.Crawler], s.ua[w.start:end], false
		}
	}
	if k.Kind != words.Name {
		return nil, "", false
	}
	return &r.crawlers[k.Crawler], s.wordText(w), k.Weak
}

// retryWithoutVersion repeats the lookup of an unknown word without the version at its end, as in
// Nutch-1.7, Nutch-1.7-SNAPSHOT and trendictionbot0.5.0.
func (s *parsedUserAgent) retryWithoutVersion(r *Registry, w *word) {
	text := s.wordText(w)
	if len(text) > maxName { // longer than any name
		return
	}
	if i := versionOffset(text); i > 0 {
		if k := r.key(text[:i], words.Hash(text[:i])); k != nil && k.Kind == words.Name {
			s.lookUpPrefix(r, w, i)
		}
	}
}

// retryWithoutDomain repeats the lookup of an unknown domain name without its top-level domain:
// HostTracker.com is HostTracker. The names of libraries are excluded, because a site with a
// library's name has nothing to do with the library. Ordinary words are excluded, because
// such a site could be blocked in place of the crawler with that name.
func (s *parsedUserAgent) retryWithoutDomain(r *Registry, w *word) {
	text := s.wordText(w)
	i := strings.IndexByte(text, '.')
	if i < 0 || i > maxName || len(text)-i > len(".info") || s.isURLWithoutScheme(w) {
		return
	}
	k := r.key(text[:i], words.Hash(text[:i]))
	if k == nil || k.Kind != words.Name || !isDomain(text) {
		return
	}
	c := &r.crawlers[k.Crawler]
	if c.Class == Library || c.Class == Headless || k.Weak && c.WildcardApplies() && w.flags&afterCompatible == 0 {
		return
	}
	s.lookUpPrefix(r, w, i)
}

// isURLWithoutScheme reports whether a domain name begins an address without a scheme, as in
// "+acme.example/about". Otherwise the domain name is a product.
func (s *parsedUserAgent) isURLWithoutScheme(w *word) bool {
	start, end := int(w.start), int(w.end)
	return start > 0 && s.ua[start-1] == '+' || end+1 < len(s.ua) && s.ua[end] == '/' && words.Fold[s.ua[end+1]]&words.Letter != 0
}

// versionOffset returns the offset of the version in a word, including the separator before the
// version, or 0. A letter between the first digit and the first dot means that there is no
// version: Foo-2-Bar. A version without a separator must contain a dot: Foo1.7. A separator
// at the end of the word, as in "Foo_(comment)", and a UUID after the name also count as
// versions.
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

// lookUpPrefix looks up the first n bytes of a word. The token is the word up to the first dot
// of its version.
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
