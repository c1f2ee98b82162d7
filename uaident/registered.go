package uaident

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// inRegistry looks for names of the registry. crawler is the best one that is a
// crawler's; fallback is the first that is a library's or a headless browser's, for where
// no crawler is found. Behind the name of a language the library counts that is written
// in it: "Python/3.12 aiohttp/3.10" is aiohttp, and still held to a group for Python, to
// which aiohttp falls back.
func (s *scan) inRegistry(r *Registry) (crawler, fallback Identity) {
	best, end := 0, uint16(0) // of the last name of several words
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.start < end {
			continue // it belongs to that name
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
		if weak && rank == elsewhere && !s.bare() && !ofLanguage ||
			weak && rank == inFront && (s.onDevice() || s.byApp()) && s.contactOf(i) < 0 && c.JudgedByWildcard() ||
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

// onDevice reports whether a User-Agent that begins with a product of its own
// goes on as those of apps do, with the system that they run on: "Acme/9692
// CFNetwork/1121.2.2 Darwin/19.3.0".
func (s *scan) onDevice() bool { return s.stops > 1 || s.signs&sign(words.Device) != 0 }

// endsLikeProduct reports whether a name that ends at the given place is a whole
// product: "Java/17", but not "Java(TM) Runtime".
func (s *scan) endsLikeProduct(end int) bool {
	return s.nameStops(end) && (end == len(s.ua) || s.ua[end] != '(')
}

// Where a name stands, best last.
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

// nameAt returns the registry's crawler whose name begins at w, the longest.
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

// withoutVersion looks an unknown word up again without the version that it
// ends with, as in Nutch-1.7, Nutch-1.7-SNAPSHOT and trendictionbot0.5.0.
func (s *scan) withoutVersion(r *Registry, w *word) {
	text := s.text(w)
	if len(text) > maxName { // no name is as long
		return
	}
	if i := versionOf(text); i > 0 {
		if k := r.key(text[:i], words.Hash(text[:i])); k != nil && k.Kind == words.Name {
			s.lookUpAgain(r, w, i)
		}
	}
}

// withoutDomain looks an unknown word that is the name of a site up again without its
// domain: HostTracker.com is HostTracker. Two kinds of names do not count. A site that is
// called like a library has nothing to do with it; and one that is called by an ordinary
// word would be blocked in the place of the crawler of that name.
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

// isAddress reports whether a word that is the name of a site begins an address without a
// scheme, as in "+acme.example/about", rather than a product.
func (s *scan) isAddress(w *word) bool {
	start, end := int(w.start), int(w.end)
	return start > 0 && s.ua[start-1] == '+' || end+1 < len(s.ua) && s.ua[end] == '/' && words.Fold[s.ua[end+1]]&words.Letter != 0
}

// versionOf returns where the version of a word begins, with the sign before it, or 0.
// No letter comes after a version's first digit before a dot does: in Foo-2-Bar there
// is none. Without a sign it has a dot: Foo1.7. A sign at the end of the word, as in
// "Foo_(comment)", is no part of the name either, nor is an identifier of the one who had
// the crawler sent: bedrockbot_123e4567-e89b-12d3-a456-426614174000.
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

// isUUID reports whether a text begins with a UUID, as RFC 9562 section 4 writes it.
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

// lookUpAgain looks up the first n bytes of a word; the token is the word up to
// the dot of its version.
func (s *scan) lookUpAgain(r *Registry, w *word, n int) {
	end := w.start + uint16(len(cutVersion(s.text(w))))
	w.end = w.start + uint16(n)
	w.hash = words.Hash(s.text(w))
	s.lookUp(r, w)
	w.end = end
}

// cutVersion returns a word up to the first dot that a digit follows.
func cutVersion(w string) string {
	for i := 1; i+1 < len(w); i++ {
		if w[i] == '.' && words.Digit(w[i+1]) {
			return w[:i]
		}
	}
	return w
}
