package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// byStructure identifies a client by parts of the User-Agent that browsers do not send. The
// class is GenericCrawler for parts that only robots send, else Other. fallback is the
// library or headless browser in the User-Agent, if any.
func (s *scan) byStructure(fallback Identity) Identity {
	id := s.product(fallback)
	switch {
	case id.Token == "":
	case isService(id.Token), id.Evidence != FromConvention && isGoogles(id.Token), id.Evidence == FromSuffix && (s.siteIsService(id.Token) || s.continuesAsService(id.Token)):
		id.Class, id.Evidence = Other, FromTool
	case id.Evidence == FromConvention, id.Evidence == FromSuffix:
	case s.robotWord() >= 0:
		id.Class, id.Evidence = GenericCrawler, FromSuffix
	case s.hasRobotContact() && !toolLike(id.Token): // the address alone does not make a LinkChecker a robot
		id.Class, id.Evidence = GenericCrawler, FromRobotContact
	}
	return id
}

// siteIsService reports whether a robot with a domain name as its token describes itself as a
// service: "acme.com Uptime Bot".
func (s *scan) siteIsService(token string) bool {
	if !isDomain(token) {
		return false
	}
	i := s.robotWord()
	if i < 0 {
		return false
	}
	w, from := &s.words[i], s.words[s.firstProduct()].start
	return w.comment == 0 && w.end > from && isService(s.ua[from:w.end])
}

// continuesAsService reports whether the words after a robot's name describe a service: "Foo
// Bot Webhook/1.0".
func (s *scan) continuesAsService(token string) bool {
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
	return at > end && isService(s.ua[start:at])
}

// product finds the name of a client by the structure of the User-Agent.
func (s *scan) product(fallback Identity) Identity {
	robot := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: GenericCrawler, Evidence: e}
	}
	other := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: Other, Evidence: e}
	}
	if i := s.compatible(); i >= 0 {
		if s.startsWithRobot() {
			if name := s.nameFrom(s.firstProduct()); !isService(name) {
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
		if s.bareMozilla() && s.modernMozilla() && fallback.Crawler == nil && s.words[first].kind == words.Unknown {
			return other(s.nameFrom(first), FromStructure)
		}
		return Identity{}
	}
	name := s.nameFrom(first)
	if fallback.Crawler != nil && s.words[first].key >= 0 || libraryLike(name) { // the name of a library comes first
		return Identity{}
	}
	switch {
	case s.robotWord() >= 0, !strings.HasPrefix(s.ua[s.words[first].start:], name) && robotLike(name) && !s.isApp(): // "Acme/FooBot"
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

// hasVersion reports whether a slash follows word i, as in a product.
func (s *scan) hasVersion(i int) bool {
	end := int(s.words[i].end)
	return end < len(s.ua) && s.ua[end] == '/'
}

// robotWord returns the index of the first robot's name, else of the first generic robot
// word, else -1. It returns -1 for an app, whose own name or device can contain a robot word.
func (s *scan) robotWord() int {
	i := s.wordOfRobot()
	if i >= 0 && s.isApp() {
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

// toolWord returns the index of the first unknown word that ends like a tool name, or -1.
func (s *scan) toolWord() int {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags == 0 && toolLike(s.text(w)) {
			return i
		}
	}
	return -1
}

// compatible returns the index of the word after "compatible;", or -1. Old browsers write
// their own name there. So the word requires a contact, a User-Agent without other words of a
// browser, or a "compatible;" in a later comment than the first.
func (s *scan) compatible() int {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Contact || w.key >= 0 && w.kind != words.Tool || w.flags&afterCompatible == 0 || w.flags&inDevice != 0 {
			continue
		}
		if s.signs&sign(words.Contact) != 0 || s.bareMozilla() && w.end-w.start > 2 && s.modernMozilla() || w.comment > 1 && s.mozilla() {
			return i
		}
	}
	return -1
}

// isConvention reports whether a name after "compatible;" follows the convention of crawlers:
// a version, then a URL or mail address with a plus sign. The name begins with word i. Names
// of services do not qualify. A link to a program's source does not qualify either, because
// many people run the same feed reader.
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

// hasPlus reports whether a plus sign precedes contact j. Crawlers write the sign, browser
// extensions do not.
func (s *scan) hasPlus(j int) bool {
	start := int(s.words[j].start)
	return start > 0 && s.ua[start-1] == '+'
}

// hasRobotContact reports whether the User-Agent contains a robot's URL or mail address.
func (s *scan) hasRobotContact() bool {
	return s.signs&sign(words.Contact) != 0 && s.robotContact() >= 0
}

// robotContact returns the index of the first robot's URL or mail address, or -1.
func (s *scan) robotContact() int {
	for i := range s.words[:s.n] {
		if w := &s.words[i]; w.kind == words.Contact && isRobotAddress(s.text(w)) {
			return i
		}
	}
	return -1
}

// withContact returns the index of the first unknown product next to a URL or mail address,
// or -1.
func (s *scan) withContact() int {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags&(afterLike|inDevice|inVersion) == 0 && s.contactOf(i) >= 0 && (s.hasVersion(i) || s.adjacent(i, s.contactOf(i))) {
			return i
		}
	}
	return -1
}

// adjacent reports whether only a version and punctuation separate word i from contact j.
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

// withFamily adds the entry of a family to id, if the token begins with the family's name and
// "-". For a robot a capital letter can replace the "-". Apps are also called YandexFoo, so
// other clients need the "-".
func (s *scan) withFamily(r *Registry, id Identity) Identity {
	hash := uint32(words.Seed) // incremental, since hashing every prefix takes quadratic time
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

// domains are the top-level domains that make a product a domain name.
var domains = [...]string{".com", ".net", ".org", ".io", ".info", ".eu", ".co", ".ru", ".de", ".nl", ".cz", ".pl", ".fr", ".it", ".dev", ".ai", ".app"}

// isDomain reports whether a word is a domain name. The bundle ID of an app (com.example.app)
// is not.
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
