package uaident

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// fromRegistry finds registry names in the User-Agent. crawler is the best match of a
// crawler. fallback is the first match of a library or headless browser, used if no crawler
// matches. After the name of a programming language a library of that language takes
// precedence: "Python/3.12 aiohttp/3.10" is aiohttp. Its entry falls back to the group for
// Python.
func (s *scan) fromRegistry(r *Registry) (crawler, fallback Identity) {
	best, end := 0, uint16(0) // end of the last name with several words
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.start < end {
			continue // the word is part of that name
		}
		if w.key < 0 && w.kind == words.Unknown {
			s.withoutVersion(r, w)
			if w.key < 0 {
				s.withoutDomain(r, w)
			}
		}
		if w.key < 0 || w.flags&afterLike != 0 {
			continue
		}
		c, token, weak := s.nameAt(r, w)
		if c == nil {
			continue
		}
		end = w.end
		rank := s.rank(i)
		ofLanguage := c.Class == Library && fallback.Class == Library && slices.Contains(c.Fallback, fallback.Crawler.Token)
		if weak && rank == elsewhere && !s.bareMozilla() && !ofLanguage ||
			weak && rank == inFront && (s.onDevice() || s.isApp()) && s.contactOf(i) < 0 && c.JudgedByWildcard() ||
			c.App && w.flags&afterCompatible == 0 && !robotLike(token) && s.contactOf(i) < 0 {
			continue
		}
		id := Identity{Token: token, Crawler: c, Class: c.Class, Evidence: FromRegistry}
		switch {
		case c.Class == Library:
			id.Evidence = FromLibrary
			if (fallback.Crawler == nil || ofLanguage) && (rank > elsewhere || w.comment == 0) && s.endsLikeProduct(int(w.end)) {
				fallback = id
			}
		case c.Class == Headless:
			id.Evidence = FromHeadless
			if fallback.Crawler == nil {
				fallback = id
			}
		default:
			if c.JudgedByWildcard() {
				rank += inFront
			}
			if rank > best {
				crawler, best, s.known = id, rank, w.start
			}
		}
	}
	return crawler, fallback
}

// onDevice reports whether a User-Agent names the system of a device, as apps do: "Acme/9692
// CFNetwork/1121.2.2 Darwin/19.3.0".
func (s *scan) onDevice() bool { return s.stops > 1 || s.signs&sign(words.Device) != 0 }

// endsLikeProduct reports whether a name that ends at end is a whole product: "Java/17", but
// not "Java(TM) Runtime".
func (s *scan) endsLikeProduct(end int) bool {
	return s.nameStops(end) && (end == len(s.ua) || s.ua[end] != '(')
}

// Positions of a name, in increasing order of precedence.
const (
	elsewhere = 1 + iota
	inCompatible
	withContact
	inFront
)

func (s *scan) rank(i int) int {
	w := &s.words[i]
	switch {
	case i == s.firstProduct() && !s.likeBrowser():
		return inFront
	case w.flags&inDevice != 0:
		return elsewhere
	case s.contactOf(i) >= 0:
		return withContact
	case w.flags&afterCompatible != 0:
		return inCompatible
	}
	return elsewhere
}

// nameAt returns the crawler with the longest name that begins at w.
func (s *scan) nameAt(r *Registry, w *word) (c *Crawler, token string, weak bool) {
	k := &r.keys[w.key]
	for _, p := range k.Phrases {
		end := int(w.start) + len(p.Text)
		if hasFoldedPrefix(s.ua[w.start:], p.Text) && s.nameEnds(end) &&
			(p.Exact == "" || p.Exact == s.ua[w.start:end]) {
			w.kind, w.end = words.Name, uint16(end)
			for i := range s.words[:s.n] {
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
	return &r.crawlers[k.Crawler], s.text(w), k.Weak
}

// withoutVersion repeats the lookup of an unknown word without the version at its end, as in
// Nutch-1.7, Nutch-1.7-SNAPSHOT and trendictionbot0.5.0.
func (s *scan) withoutVersion(r *Registry, w *word) {
	text := s.text(w)
	if len(text) > maxName { // longer than any name
		return
	}
	if i := versionOf(text); i > 0 {
		if k := r.key(text[:i], words.Hash(text[:i])); k != nil && k.Kind == words.Name {
			s.lookUpAgain(r, w, i)
		}
	}
}

// withoutDomain repeats the lookup of an unknown domain name without its top-level domain:
// HostTracker.com is HostTracker. The names of libraries are excluded, because a site with a
// library's name has nothing to do with the library. Ordinary words are excluded, because
// such a site could be blocked in place of the crawler with that name.
func (s *scan) withoutDomain(r *Registry, w *word) {
	text := s.text(w)
	i := strings.IndexByte(text, '.')
	if i < 0 || i > maxName || len(text)-i > len(".info") || s.isAddress(w) {
		return
	}
	k := r.key(text[:i], words.Hash(text[:i]))
	if k == nil || k.Kind != words.Name || !isDomain(text) {
		return
	}
	c := &r.crawlers[k.Crawler]
	if c.Class == Library || c.Class == Headless || k.Weak && c.JudgedByWildcard() && w.flags&afterCompatible == 0 {
		return
	}
	s.lookUpAgain(r, w, i)
}

// isAddress reports whether a domain name begins an address without a scheme, as in
// "+acme.example/about". Otherwise the domain name is a product.
func (s *scan) isAddress(w *word) bool {
	start, end := int(w.start), int(w.end)
	return start > 0 && s.ua[start-1] == '+' || end+1 < len(s.ua) && s.ua[end] == '/' && words.Fold[s.ua[end+1]]&words.Letter != 0
}

// versionOf returns the offset of the version in a word, including the separator before the
// version, or 0. A letter between the first digit and the first dot means that there is no
// version: Foo-2-Bar. A version without a separator must contain a dot: Foo1.7. A separator
// at the end of the word, as in "Foo_(comment)", and a UUID after the name also count as
// versions.
func versionOf(text string) int {
	for i := 1; i+1 < len(text); i++ {
		if words.Digit(text[i]) && words.Fold[text[i-1]]&words.Letter != 0 {
			start := i
			for i+2 < len(text) && words.Digit(text[i]) {
				i++
			}
			if text[i] == '.' && words.Digit(text[i+1]) {
				return start
			}
		}
		if text[i] != '-' && text[i] != '_' {
			continue
		}
		if isUUID(text[i+1:]) {
			return i
		}
		if !words.Digit(text[i+1]) {
			continue
		}
		start := i
		for i++; words.Fold[text[i]]&words.Letter == 0; i++ {
			if text[i] == '.' || i+1 == len(text) {
				return start
			}
		}
	}
	if bare := strings.TrimRight(text, "-_"); len(bare) < len(text) {
		return len(bare)
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
		if (form[i] == '-') != (text[i] == '-') || form[i] == 'x' && !words.Hex(text[i]) {
			return false
		}
	}
	return true
}

// lookUpAgain looks up the first n bytes of a word. The token is the word up to the first dot
// of its version.
func (s *scan) lookUpAgain(r *Registry, w *word, n int) {
	end := w.start + uint16(len(cutVersion(s.text(w))))
	w.end = w.start + uint16(n)
	w.hash = words.Hash(s.text(w))
	s.lookUp(r, w)
	w.end = end
}

// cutVersion returns a word up to the first dot before a digit.
func cutVersion(w string) string {
	for i := 1; i+1 < len(w); i++ {
		if w[i] == '.' && words.Digit(w[i+1]) {
			return w[:i]
		}
	}
	return w
}
