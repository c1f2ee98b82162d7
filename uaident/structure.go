package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// identifyByStructure identifies a client by the form of its User-Agent. The class is
// GenericCrawler for forms that only robots send, and Other for forms that browsers do not send.
// program is the library or headless browser in the User-Agent, if any.
func (s *parsedUserAgent) identifyByStructure(program Identity) Identity {
	id := s.identifyProduct(program)
	switch {
	case id.Token == "":
	case isServiceName(id.Token), id.Evidence != FromConvention && hasGoogleForm(id.Token), id.Evidence == FromSuffix && (s.isServiceOfDomain(id.Token) || s.continuesAsService(id.Token)):
		id.Class, id.Evidence = Other, FromTool
	case id.Evidence == FromConvention, id.Evidence == FromSuffix:
	case s.robotWordIndex() >= 0:
		id.Class, id.Evidence = GenericCrawler, FromSuffix
	case s.hasRobotContact() && !looksLikeTool(id.Token): // A tool such as LinkChecker can have a robot's address.
		id.Class, id.Evidence = GenericCrawler, FromRobotContact
	}
	return id
}

// isServiceOfDomain reports whether token is a domain name, and the words after it describe a
// service: "acme.com Uptime Bot".
func (s *parsedUserAgent) isServiceOfDomain(token string) bool {
	if !isDomain(token) {
		return false
	}
	i := s.robotWordIndex()
	if i < 0 {
		return false
	}
	w, from := &s.words[i], s.words[s.firstProductIndex()].start
	return w.comment == 0 && w.end > from && isServiceName(s.ua[from:w.end])
}

// continuesAsService reports whether the words directly after token, a robot's name, describe a
// service: "Foo Bot Webhook/1.0".
func (s *parsedUserAgent) continuesAsService(token string) bool {
	start := strings.Index(s.ua, token)
	end := start + len(token)
	at := end
	for range maxNameWords {
		next := s.nextNameWordEnd(at)
		if next == 0 {
			break
		}
		at = next
	}
	return at > end && isServiceName(s.ua[start:at])
}

// identifyProduct identifies a client by the form of its User-Agent, without the exceptions in
// identifyByStructure. The evidence names the form. The token is "" for a form without a product.
func (s *parsedUserAgent) identifyProduct(program Identity) Identity {
	robotIdentity := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: GenericCrawler, Evidence: e}
	}
	otherIdentity := func(token string, e Evidence) Identity {
		return Identity{Token: token, Class: Other, Evidence: e}
	}
	if i := s.compatibleWordIndex(); i >= 0 {
		if s.startsWithRobot() {
			if name := s.nameStartingAt(s.firstProductIndex()); !isServiceName(name) {
				return robotIdentity(name, FromSuffix)
			}
		}
		name := s.nameStartingAt(i)
		if s.followsCrawlerConvention(i, name) {
			return robotIdentity(name, FromConvention)
		}
		return otherIdentity(name, FromCompatible)
	}
	if i := s.robotWordIndex(); i >= 0 && (s.startsLikeBrowser() || s.hasSlashAfter(i)) {
		if name := s.nameEndingAt(i); name != "" {
			return robotIdentity(name, FromSuffix)
		}
	}
	first := s.firstProductIndex()
	if first < 0 {
		return Identity{}
	}
	if s.startsLikeBrowser() {
		if i := s.contactProductIndex(); i >= 0 && (s.numBrowserWords <= 3 || s.hasPlusBefore(s.contactIndexFor(i))) {
			return otherIdentity(s.nameStartingAt(i), FromContact)
		}
		if i := s.robotWordIndex(); i >= 0 {
			return robotIdentity(s.wordText(&s.words[i]), FromSuffix)
		}
		if s.hasOnlyMozillaAsBrowserWord() && s.startsWithMozilla5() && program.Crawler == nil && s.words[first].kind == words.Unknown {
			return otherIdentity(s.nameStartingAt(first), FromStructure)
		}
		return Identity{}
	}
	name := s.nameStartingAt(first)
	// The library identifies the client.
	if program.Crawler != nil && s.words[first].key >= 0 || looksLikeLibrary(name) {
		return Identity{}
	}
	switch {
	case s.robotWordIndex() >= 0, !s.startsWithName(first, name) && looksLikeRobot(name) && !s.isFromApp():
		// This is FooBot of "Acme/FooBot".
		return robotIdentity(name, FromSuffix)
	case s.kindBits&kindBit(words.Contact) != 0:
		return otherIdentity(name, FromContact)
	case s.numBrowserWords > 3 || s.kindBits&kindBit(words.Device) != 0: // This is an app, not a tool.
	case s.kindBits&kindBit(words.Tool) != 0 || s.toolWordIndex() >= 0:
		return otherIdentity(name, FromTool)
	case isDomain(s.wordText(&s.words[first])):
		return otherIdentity(name, FromContact)
	}
	return Identity{}
}

// hasSlashAfter reports whether a slash follows word i, as in FooBot/1.0.
func (s *parsedUserAgent) hasSlashAfter(i int) bool {
	end := int(s.words[i].end)
	return end < len(s.ua) && s.ua[end] == '/'
}

// robotWordIndex returns the index of the first word that is spelled like a robot's name, or else
// of the first generic robot word, or -1. The result for an app is -1, because the name of the app
// or device can contain a robot word.
func (s *parsedUserAgent) robotWordIndex() int {
	i := s.findRobotWord()
	if i >= 0 && s.isFromApp() {
		return -1
	}
	return i
}

// findRobotWord returns the same index as robotWordIndex, but also for an app.
func (s *parsedUserAgent) findRobotWord() int {
	generic := -1
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.flags&(afterLike|notAProduct) != 0 || w.flags&inDevice != 0 && s.contactIndexFor(i) < 0 {
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

// toolWordIndex returns the index of the first unknown word (see [word]) that contains a word for a
// tool, or -1. Words with any of wordFlags are excluded, such as words after "compatible;".
func (s *parsedUserAgent) toolWordIndex() int {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags == 0 && looksLikeTool(s.wordText(w)) {
			return i
		}
	}
	return -1
}

// compatibleWordIndex returns the index of an unregistered name after "compatible;", or -1. Old
// browsers write their names there too. So the User-Agent must contain a contact, must begin with
// Mozilla/5.0 and contain no other word of browsers, or must begin with Mozilla and have the name
// in a second or later comment.
func (s *parsedUserAgent) compatibleWordIndex() int {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Contact || w.key >= 0 && w.kind != words.Tool || w.flags&afterCompatible == 0 || w.flags&inDevice != 0 {
			continue
		}
		if s.kindBits&kindBit(words.Contact) != 0 || s.hasOnlyMozillaAsBrowserWord() && w.end-w.start > 2 && s.startsWithMozilla5() || w.comment > 1 && s.startsWithMozilla() {
			return i
		}
	}
	return -1
}

// followsCrawlerConvention reports whether the name that begins with word i, after "compatible;",
// follows the convention of crawlers: a version, then a URL or mail address with a plus sign. Names
// of services and tools do not qualify. Links to source code do not qualify, because many people
// run the same program.
func (s *parsedUserAgent) followsCrawlerConvention(i int, name string) bool {
	j := s.contactIndexFor(i)
	if j < 0 || !s.hasPlusBefore(j) || isSourceCodeURL(s.wordText(&s.words[j])) {
		return false
	}
	between := s.ua[s.words[i].start:s.words[j].start]
	slash := strings.IndexByte(between, '/')
	return slash > 0 && slash+1 < len(between) && (words.IsDigit(between[slash+1]) || between[slash+1]|0x20 == 'v') &&
		s.toolWordIndex() < 0 && s.kindBits&kindBit(words.Tool) == 0 && !nonCrawlerParts.occursIn(name) && !nonCrawlerEndParts.occursIn(name)
}

// hasPlusBefore reports whether a plus sign precedes the URL or mail address at index i. Crawlers
// write the plus sign, but browser extensions do not.
func (s *parsedUserAgent) hasPlusBefore(i int) bool {
	start := int(s.words[i].start)
	return start > 0 && s.ua[start-1] == '+'
}

// hasRobotContact reports whether the User-Agent contains a robot's URL or mail address.
func (s *parsedUserAgent) hasRobotContact() bool {
	return s.kindBits&kindBit(words.Contact) != 0 && s.robotContactIndex() >= 0
}

// robotContactIndex returns the index of the first URL or mail address that is a robot's, or -1.
func (s *parsedUserAgent) robotContactIndex() int {
	for i := range s.words[:s.numWords] {
		if w := &s.words[i]; w.kind == words.Contact && isRobotAddress(s.wordText(w)) {
			return i
		}
	}
	return -1
}

// contactProductIndex returns the index of the first product that is not in the registry and has a
// URL or mail address next to it, or -1.
func (s *parsedUserAgent) contactProductIndex() int {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags&(afterLike|inDevice|notAProduct) == 0 && s.contactIndexFor(i) >= 0 && (s.hasSlashAfter(i) || s.isAdjacent(i, s.contactIndexFor(i))) {
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

// applyFamily returns id with the registry entry whose [Crawler.Family] includes the token: Yandex
// for YandexFoo. The token must begin with the name of the entry and "-". If the client is a
// robot, a capital letter can replace the "-". Apps with names such as YandexFoo are excluded. If no
// entry includes the token, applyFamily returns id unchanged.
func (s *parsedUserAgent) applyFamily(r *Registry, id Identity) Identity {
	// This is the hash of id.Token[:i+1]. A new hash of every prefix would take quadratic time.
	hash := uint32(words.Seed)
	for i := range len(id.Token) {
		c := id.Token[i]
		prefixHash := hash
		hash = words.AddToHash(hash, words.Fold[c])
		if i == 0 || c != '-' && (c < 'A' || c > 'Z' || id.Class == Other) {
			continue
		}
		if k := r.findKey(id.Token[:i], prefixHash); k != nil && k.Kind == words.Name {
			if entry := &r.crawlers[k.Crawler]; entry.Family {
				id.Crawler, id.Class, id.Evidence = entry, entry.Class, FromFamily
				return id
			}
		}
	}
	return id
}

// topLevelDomains are the endings of words that isDomain accepts as domain names.
var topLevelDomains = [...]string{".com", ".net", ".org", ".io", ".info", ".eu", ".co", ".ru", ".de", ".nl", ".cz", ".pl", ".fr", ".it", ".dev", ".ai", ".app"}

// isDomain reports whether a word is a domain name below one of topLevelDomains. A word that
// begins with a top-level domain, such as com.example.app, is not a domain name but the bundle ID of
// an app.
func isDomain(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	if dot < 2 {
		return false
	}
	first, _, _ := strings.Cut(w, ".")
	isBelowTopLevel := false
	for _, d := range &topLevelDomains {
		if strings.EqualFold(first, d[1:]) {
			return false // This is a bundle ID. The top-level domain can differ from the ending.
		}
		isBelowTopLevel = isBelowTopLevel || strings.EqualFold(w[dot:], d)
	}
	return isBelowTopLevel
}
