package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// byStructure names a client by what a browser would not have in its User-Agent. Its
// class is GenericCrawler if only robots have that, else Other. fallback is the library or
// headless browser that was found, if any.
func (s *scan) byStructure(fallback Identity) Identity {
	id := s.product(fallback)
	switch {
	case id.Token == "":
	case servesSomebody(id.Token), id.Evidence != FromConvention && isGoogles(id.Token), id.Evidence == FromSuffix && (s.siteServes(id.Token) || s.goesOnServing(id.Token)):
		id.Class, id.Evidence = Other, FromTool
	case id.Evidence == FromConvention, id.Evidence == FromSuffix:
	case s.robotWord() >= 0:
		id.Class, id.Evidence = GenericCrawler, FromSuffix
	case s.hasRobotContact() && !toolLike(id.Token): // an address alone makes no robot of a LinkChecker
		id.Class, id.Evidence = GenericCrawler, FromRobotContact
	}
	return id
}

// siteServes reports whether a robot that goes by the name of its site says after it
// that it serves somebody: "acme.com Uptime Bot".
func (s *scan) siteServes(token string) bool {
	if !isDomain(token) {
		return false
	}
	i := s.robotWord()
	if i < 0 {
		return false
	}
	w, from := &s.words[i], s.words[s.firstProduct()].start
	return w.comment == 0 && w.end > from && servesSomebody(s.ua[from:w.end])
}

// goesOnServing reports whether the words after a name that ends with a robot's word say
// that it serves somebody: "Foo Bot Webhook/1.0".
func (s *scan) goesOnServing(token string) bool {
	start := strings.Index(s.ua, token)
	end := start + len(token)
	at := end
	for range maxNameWords {
		next := s.nextInName(at)
		if next == 0 {
			break
		}
		at = next
	}
	return at > end && servesSomebody(s.ua[start:at])
}

// product finds the name of a client by the structure of its User-Agent.
func (s *scan) product(fallback Identity) Identity {
	robot := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: GenericCrawler, Evidence: e}
	}
	other := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: Other, Evidence: e}
	}
	if i := s.compatible(); i >= 0 {
		if s.namesItself() {
			if name := s.nameFrom(s.firstProduct()); !servesSomebody(name) {
				return robot(name, FromSuffix)
			}
		}
		name := s.nameFrom(i)
		if s.isConvention(i, name) {
			return robot(name, FromConvention)
		}
		return other(name, FromCompatible)
	}
	if i := s.robotWord(); i >= 0 && (s.likeBrowser() || s.hasVersion(i)) {
		if name := s.nameEndingAt(i); name != "" {
			return robot(name, FromSuffix)
		}
	}
	first := s.firstProduct()
	if first < 0 {
		return Identity{}
	}
	if s.likeBrowser() {
		if i := s.withContact(); i >= 0 && (s.stops <= 3 || s.hasPlus(s.contactOf(i))) {
			return other(s.nameFrom(i), FromContact)
		}
		if i := s.robotWord(); i >= 0 {
			return robot(s.text(&s.words[i]), FromSuffix)
		}
		if s.bare() && s.modern() && fallback.Crawler == nil && s.words[first].kind == words.Unknown {
			return other(s.nameFrom(first), FromStructure)
		}
		return Identity{}
	}
	name := s.nameFrom(first)
	if fallback.Crawler != nil && s.words[first].key >= 0 || libraryLike(name) { // a library's name comes first
		return Identity{}
	}
	switch {
	case s.robotWord() >= 0, !strings.HasPrefix(s.ua[s.words[first].start:], name) && robotLike(name) && !s.byApp(): // "Acme/FooBot"
		return robot(name, FromSuffix)
	case s.signs&sign(words.Contact) != 0:
		return other(name, FromContact)
	case s.stops > 3 || s.signs&sign(words.Device) != 0: // an app
	case s.signs&sign(words.Tool) != 0 || s.toolWord() >= 0:
		return other(name, FromTool)
	case isDomain(s.text(&s.words[first])):
		return other(name, FromContact)
	}
	return Identity{}
}

// hasVersion reports whether word i is followed by a slash, as products are.
func (s *scan) hasVersion(i int) bool {
	end := int(s.words[i].end)
	return end < len(s.ua) && s.ua[end] == '/'
}

// robotWord returns the number of the first word that is a robot's name or
// says that it is one, or -1. In an app it says what the app or the phone is
// called.
func (s *scan) robotWord() int {
	i := s.wordOfRobot()
	if i >= 0 && s.byApp() {
		return -1
	}
	return i
}

func (s *scan) wordOfRobot() int {
	generic := -1
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.flags&(afterLike|inVersion) != 0 || w.flags&inDevice != 0 && s.contactOf(i) < 0 {
			continue
		}
		switch w.kind {
		case words.Unknown:
			if w.flags&isRobot != 0 {
				return i
			}
		case words.Generic:
			if generic < 0 {
				generic = i
			}
		}
	}
	return generic
}

// toolWord returns the number of the first unknown word that ends with a
// robot's job, or -1.
func (s *scan) toolWord() int {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags == 0 && toolLike(s.text(w)) {
			return i
		}
	}
	return -1
}

// compatible returns the number of the word that stands where "compatible;"
// has a robot's name, or -1. Old browsers have their own name there. So it counts only if
// the User-Agent has a contact, or says nothing else that a browser would, or if the
// comment with "compatible;" is not the first one, as behind a whole browser's User-Agent.
func (s *scan) compatible() int {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Contact || w.key >= 0 && w.kind != words.Tool || w.flags&afterCompatible == 0 || w.flags&inDevice != 0 {
			continue
		}
		if s.signs&sign(words.Contact) != 0 || s.bare() && w.end-w.start > 2 && s.modern() || w.comment > 1 && s.mozilla() {
			return i
		}
	}
	return -1
}

// isConvention reports whether a name, which begins with word i after
// "compatible;", has a version and then a URL or mail address with a plus sign
// before it, as crawlers write theirs, and does not say that it serves somebody. An
// address of a program's source is no crawler's: many people run the same feed reader.
func (s *scan) isConvention(i int, name string) bool {
	j := s.contactOf(i)
	if j < 0 || !s.hasPlus(j) || namesProgram(s.text(&s.words[j])) {
		return false
	}
	between := s.ua[s.words[i].start:s.words[j].start]
	slash := strings.IndexByte(between, '/')
	return slash > 0 && slash+1 < len(between) && (words.Digit(between[slash+1]) || between[slash+1]|0x20 == 'v') &&
		s.toolWord() < 0 && s.signs&sign(words.Tool) == 0 && !hasPart(name, watchParts, 5) && !hasPart(name, lastWatchParts, 5)
}

// hasPlus reports whether there is a plus sign before the contact j: crawlers
// write it, extensions of browsers do not.
func (s *scan) hasPlus(j int) bool {
	start := int(s.words[j].start)
	return start > 0 && s.ua[start-1] == '+'
}

// hasRobotContact reports whether a URL or mail address says that it is a
// robot's.
func (s *scan) hasRobotContact() bool {
	return s.signs&sign(words.Contact) != 0 && s.robotContact() >= 0
}

// robotContact returns the number of the first URL or mail address that says it is a
// robot's, or -1.
func (s *scan) robotContact() int {
	for i := range s.words[:s.n] {
		if w := &s.words[i]; w.kind == words.Contact && saysRobot(s.text(w)) {
			return i
		}
	}
	return -1
}

// withContact returns the number of the first unknown product that has a URL or
// mail address next to it, or -1.
func (s *scan) withContact() int {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags&(afterLike|inDevice|inVersion) == 0 && s.contactOf(i) >= 0 && (s.hasVersion(i) || s.adjacent(i, s.contactOf(i))) {
			return i
		}
	}
	return -1
}

// adjacent reports whether there is nothing but a version and punctuation
// between word i and the contact j.
func (s *scan) adjacent(i, j int) bool {
	from := int(s.words[i].end)
	if from < len(s.ua) && s.ua[from] == '/' {
		for from < len(s.ua) && s.ua[from] != ' ' && s.ua[from] != ';' && s.ua[from] != ')' {
			from++
		}
	}
	for k := from; k < int(s.words[j].start); k++ {
		if words.Fold[s.ua[k]]&words.Letter != 0 {
			return false
		}
	}
	return true
}

// withFamily gives an identity the registry's entry of its family, if its token
// begins with that name and "-", or a capital letter if structure says that it
// is a robot: apps are called YandexFoo too.
func (s *scan) withFamily(r *Registry, id Identity) Identity {
	hash := uint32(words.Seed) // of the token so far: hashing each prefix anew would take the square of its length
	for i := range len(id.Token) {
		c := id.Token[i]
		before := hash
		hash = words.Step(hash, words.Fold[c])
		if i == 0 || c != '-' && (c < 'A' || c > 'Z' || id.Class == Other) {
			continue
		}
		if k := r.key(id.Token[:i], before); k != nil && k.Kind == words.Name {
			if entry := &r.crawlers[k.Crawler]; entry.Family {
				id.Crawler, id.Class, id.Evidence = entry, entry.Class, FromFamily
				return id
			}
		}
	}
	return id
}

// domains are the endings by which a product is taken for a site's name.
var domains = [...]string{".com", ".net", ".org", ".io", ".info", ".eu", ".co", ".ru", ".de", ".nl", ".cz", ".pl", ".fr", ".it", ".dev", ".ai", ".app"}

// isDomain reports whether a word is the name of a site, but not an app's
// bundle (com.example.app).
func isDomain(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	if dot < 2 {
		return false
	}
	for _, d := range &domains {
		if first, _, _ := strings.Cut(w, "."); strings.EqualFold(w[dot:], d) && !strings.EqualFold(first, d[1:]) {
			return true
		}
	}
	return false
}
