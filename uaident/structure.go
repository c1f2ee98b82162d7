package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// identifyByStructure identifies a client by parts of the User-Agent that browsers do not send. The
// class is GenericCrawler for parts that only robots send, else Other. program is the
// library or headless browser in the User-Agent, if any.
func (s *parsedUserAgent) identifyByStructure(program Identity) Identity {
	id := s.identifyProduct(program)
	switch {
	case id.Token == "":
	case isServiceName(id.Token), id.Evidence != FromConvention && hasGoogleForm(id.Token), id.Evidence == FromSuffix && (s.siteIsService(id.Token) || s.continuesAsService(id.Token)):
		id.Class, id.Evidence = Other, FromTool
	case id.Evidence == FromConvention, id.Evidence == FromSuffix:
	case s.robotWord() >= 0:
		id.Class, id.Evidence = GenericCrawler, FromSuffix
	case s.hasRobotContact() && !looksLikeTool(id.Token): // the address alone does not make a LinkChecker a robot
		id.Class, id.Evidence = GenericCrawler, FromRobotContact
	}
	return id
}

// siteIsService reports whether a robot with a domain name as its token describes itself as a
// service: "acme.com Uptime Bot".
func (s *parsedUserAgent) siteIsService(token string) bool {
	if !isDomain(token) {
		return false
	}
	i := s.robotWord()
	if i < 0 {
		return false
	}
	w, from := &s.words[i], s.words[s.firstProduct()].start
	return w.comment == 0 && w.end > from && isServiceName(s.ua[from:w.end])
}

// continuesAsService reports whether the words after a robot's name describe a service: "Foo
// Bot Webhook/1.0".
func (s *parsedUserAgent) continuesAsService(token string) bool {
	start := strings.Index(s.ua, token)
	end := start + len(token)
	at := end
	for range maxNameWords {
		next := s.nextNameWord(at)
		if next == 0 {
			break
		}
		at = next
	}
	return at > end && isServiceName(s.ua[start:at])
}

// identifyProduct finds the name of a client by the structure of the User-Agent.
func (s *parsedUserAgent) identifyProduct(program Identity) Identity {
	robotIdentity := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: GenericCrawler, Evidence: e}
	}
	otherIdentity := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: Other, Evidence: e}
	}
	if i := s.wordAfterCompatible(); i >= 0 {
		if s.startsWithRobot() {
			if name := s.nameStartingAt(s.firstProduct()); !isServiceName(name) {
				return robotIdentity(name, FromSuffix)
			}
		}
		name := s.nameStartingAt(i)
		if s.followsConvention(i, name) {
			return robotIdentity(name, FromConvention)
		}
		return otherIdentity(name, FromCompatible)
	}
	if i := s.robotWord(); i >= 0 && (s.startsLikeBrowser() || s.hasVersion(i)) {
		if name := s.nameEndingAt(i); name != "" {
			return robotIdentity(name, FromSuffix)
		}
	}
	first := s.firstProduct()
	if first < 0 {
		return Identity{}
	}
	if s.startsLikeBrowser() {
		if i := s.productWithContact(); i >= 0 && (s.numStopWords <= 3 || s.hasPlus(s.contactOfProduct(i))) {
			return otherIdentity(s.nameStartingAt(i), FromContact)
		}
		if i := s.robotWord(); i >= 0 {
			return robotIdentity(s.wordText(&s.words[i]), FromSuffix)
		}
		if s.hasOnlyMozilla() && s.startsWithMozilla5() && program.Crawler == nil && s.words[first].kind == words.Unknown {
			return otherIdentity(s.nameStartingAt(first), FromStructure)
		}
		return Identity{}
	}
	name := s.nameStartingAt(first)
	if program.Crawler != nil && s.words[first].key >= 0 || looksLikeLibrary(name) { // the name of a library comes first
		return Identity{}
	}
	switch {
	case s.robotWord() >= 0, !s.startsWithName(first, name) && looksLikeRobot(name) && !s.isApp(): // "Acme/FooBot"
		return robotIdentity(name, FromSuffix)
	case s.signBits&kindSign(words.Contact) != 0:
		return otherIdentity(name, FromContact)
	case s.numStopWords > 3 || s.signBits&kindSign(words.Device) != 0: // an app
	case s.signBits&kindSign(words.Tool) != 0 || s.toolWord() >= 0:
		return otherIdentity(name, FromTool)
	case isDomain(s.wordText(&s.words[first])):
		return otherIdentity(name, FromContact)
	}
	return Identity{}
}

// hasVersion reports whether a slash follows word i, as in a product.
func (s *parsedUserAgent) hasVersion(i int) bool {
	end := int(s.words[i].end)
	return end < len(s.ua) && s.ua[end] == '/'
}

// robotWord returns the index of the first robot's name, else of the first generic robot word, else
// -1. robotWord returns -1 for an app, whose own name or device can contain a robot word.
func (s *parsedUserAgent) robotWord() int {
	i := s.findRobotWord()
	if i >= 0 && s.isApp() {
		return -1
	}
	return i
}

func (s *parsedUserAgent) findRobotWord() int {
	generic := -1
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.flags&(afterLike|notAProduct) != 0 || w.flags&inDevice != 0 && s.contactOfProduct(i) < 0 {
			continue
		}
		switch w.kind {
		case words.Unknown:
			if w.flags&spelledLikeRobot != 0 {
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
func (s *parsedUserAgent) toolWord() int {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags == 0 && looksLikeTool(s.wordText(w)) {
			return i
		}
	}
	return -1
}

// wordAfterCompatible returns the index of the word after "compatible;", or -1. Old browsers write
// their own name there. So the word requires a contact, a User-Agent without other words of a
// browser, or a "compatible;" in a later comment than the first.
func (s *parsedUserAgent) wordAfterCompatible() int {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Contact || w.key >= 0 && w.kind != words.Tool || w.flags&afterCompatible == 0 || w.flags&inDevice != 0 {
			continue
		}
		if s.signBits&kindSign(words.Contact) != 0 || s.hasOnlyMozilla() && w.end-w.start > 2 && s.startsWithMozilla5() || w.comment > 1 && s.startsWithMozilla() {
			return i
		}
	}
	return -1
}

// followsConvention reports whether a name after "compatible;" follows the convention of crawlers:
// a version, then a URL or mail address with a plus sign. The name begins with word i. Names
// of services do not qualify. A link to a program's source does not qualify either, because
// many people run the same feed reader.
func (s *parsedUserAgent) followsConvention(i int, name string) bool {
	j := s.contactOfProduct(i)
	if j < 0 || !s.hasPlus(j) || isProgramSource(s.wordText(&s.words[j])) {
		return false
	}
	between := s.ua[s.words[i].start:s.words[j].start]
	slash := strings.IndexByte(between, '/')
	return slash > 0 && slash+1 < len(between) && (words.IsDigit(between[slash+1]) || between[slash+1]|0x20 == 'v') &&
		s.toolWord() < 0 && s.signBits&kindSign(words.Tool) == 0 && !nonCrawlerParts.isIn(name) && !nonCrawlerEndParts.isIn(name)
}

// hasPlus reports whether a plus sign precedes contact j. Crawlers write the sign, browser
// extensions do not.
func (s *parsedUserAgent) hasPlus(j int) bool {
	start := int(s.words[j].start)
	return start > 0 && s.ua[start-1] == '+'
}

// hasRobotContact reports whether the User-Agent contains a robot's URL or mail address.
func (s *parsedUserAgent) hasRobotContact() bool {
	return s.signBits&kindSign(words.Contact) != 0 && s.robotContact() >= 0
}

// robotContact returns the index of the first robot's URL or mail address, or -1.
func (s *parsedUserAgent) robotContact() int {
	for i := range s.words[:s.numWords] {
		if w := &s.words[i]; w.kind == words.Contact && isRobotAddress(s.wordText(w)) {
			return i
		}
	}
	return -1
}

// productWithContact returns the index of the first unknown product next to a URL or mail address,
// or -1.
func (s *parsedUserAgent) productWithContact() int {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags&(afterLike|inDevice|notAProduct) == 0 && s.contactOfProduct(i) >= 0 && (s.hasVersion(i) || s.isAdjacent(i, s.contactOfProduct(i))) {
			return i
		}
	}
	return -1
}

// isAdjacent reports whether only a version and punctuation separate word i from contact j.
func (s *parsedUserAgent) isAdjacent(i, j int) bool {
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

// addFamily adds the entry of a family to id, if the token begins with the family's name and
// "-". For a robot a capital letter can replace the "-". Apps are also called YandexFoo, so
// other clients need the "-".
func (s *parsedUserAgent) addFamily(r *Registry, id Identity) Identity {
	hash := uint32(words.Seed) // incremental, since hashing every prefix takes quadratic time
	for i := range len(id.Token) {
		c := id.Token[i]
		prefixHash := hash
		hash = words.Step(hash, words.Fold[c])
		if i == 0 || c != '-' && (c < 'A' || c > 'Z' || id.Class == Other) {
			continue
		}
		if k := r.key(id.Token[:i], prefixHash); k != nil && k.Kind == words.Name {
			if entry := &r.crawlers[k.Crawler]; entry.Family {
				id.Crawler, id.Class, id.Evidence = entry, entry.Class, FromFamily
				return id
			}
		}
	}
	return id
}

// topLevelDomains are the top-level domains that make a product a domain name.
var topLevelDomains = [...]string{".com", ".net", ".org", ".io", ".info", ".eu", ".co", ".ru", ".de", ".nl", ".cz", ".pl", ".fr", ".it", ".dev", ".ai", ".app"}

// isDomain reports whether a word is a domain name. The bundle ID of an app (com.example.app)
// is not.
func isDomain(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	if dot < 2 {
		return false
	}
	for _, d := range &topLevelDomains {
		if first, _, _ := strings.Cut(w, "."); strings.EqualFold(w[dot:], d) && !strings.EqualFold(first, d[1:]) {
			return true
		}
	}
	return false
}
