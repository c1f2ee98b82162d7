package uaident

import (
	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// Identify identifies a User-Agent with the built-in registry, like Default().Identify(ua).
func Identify(ua string) Identity { return defaultRegistry.IdentifyWithOverlay(ua, nil) }

// Identify returns the identity of a User-Agent. ua can contain any bytes. An empty User-Agent, or
// "-", is a browser. Identify reads at most 2,048 bytes and does not allocate.
//
// The first match in this list is the result:
//
//   - A crawler's name in the registry. If several names occur, a name to which the `*` group
//     applies takes precedence, then the first product (unless the User-Agent begins like a
//     browser's), then a name with a contact, then a name after "compatible;", then the first name.
//     A name after "like" is ignored. A name that is also an app's name or an ordinary word must be
//     in the position of a product. An unknown robot takes precedence if it is the first product,
//     as in "FooBot (compatible; Googlebot/2.1)", or if the registry name is exempt from `*`.
//   - A form that only robots send (class [GenericCrawler]): a word such as FooBot, the form
//     "(compatible; Foo/1.0; +http...", or a robot's URL or mail address.
//   - A form that apps and services send too (class [Other]): any other URL or mail address next to
//     a product, a name after "compatible;" alone, a word such as webhook or checker, or an unknown
//     product after "Mozilla/5.0".
//   - The name of an HTTP library or a headless browser in the registry.
//   - A robot's URL or mail address in a browser's User-Agent. If the registry has an entry for the
//     host, the result is that entry, else the class is [GenericCrawler].
//   - The first product, unless the User-Agent begins like a browser's. The class is [Library] for
//     a product that is spelled like a library, and [Other] for other products.
func (r *Registry) Identify(ua string) Identity { return r.IdentifyWithOverlay(ua, nil) }

// IdentifyWithOverlay is [Registry.Identify] with the additional names of an overlay. o may be nil.
// A registry name to which the `*` group applies takes precedence over the names of the overlay. If
// a name of the overlay precedes such a registry name, it is the token of the result. Over all
// other registry names, the names of the overlay take precedence. A name of the overlay must be in
// the position of a product: with a version or a contact, after "compatible;", as the first
// product, or spelled like a robot's name. A version may follow the name directly, as in
// FooBot-2.0. In a browser's User-Agent, the name can also be in the host of a URL. A client with a
// name of the overlay has class [GenericCrawler] if the User-Agent has further evidence of a robot,
// and [Other] if not. Names of applications on a browser engine require [Overlay.WithApplications].
func (r *Registry) IdentifyWithOverlay(ua string, o *Overlay) Identity {
	return r.IdentifyWithLazyOverlay(ua, func() *Overlay { return o })
}

// IdentifyWithLazyOverlay is [Registry.IdentifyWithOverlay] with a function that returns the
// overlay, possibly nil. It calls the function at most once, and not at all for a User-Agent that is
// a browser's with every overlay.
func (r *Registry) IdentifyWithLazyOverlay(ua string, overlay func() *Overlay) Identity {
	var s parsedUserAgent
	s.splitWords(r, ua)
	if s.numWords == 0 {
		return Identity{}
	}
	if !s.isPlainBrowser() {
		return s.identify(r, overlay())
	}
	if s.kindBits&(unknownWordBit|kindBit(words.Contact)) == 0 {
		return Identity{}
	}
	if o := overlay(); o != nil {
		return s.identifyByOverlay(o, len(s.ua))
	}
	return Identity{}
}

// robotBits are the bits of parsedUserAgent.kindBits that can be evidence of a robot. If one of
// them is set, isPlainBrowser returns false.
const robotBits = unknownRobotLikeBit | unknownAfterCompatibleBit | 1<<words.Name | 1<<words.Generic

// isPlainBrowser reports whether the User-Agent begins like a browser's and contains no evidence of
// a crawler or program. Most requests then need no further checks.
func (s *parsedUserAgent) isPlainBrowser() bool {
	switch hasContact := s.kindBits&kindBit(words.Contact) != 0; {
	case !s.startsLikeBrowser(), s.kindBits&robotBits != 0:
		return false
	case s.kindBits&kindBit(words.Tool) != 0 && s.compatibleWordIndex() >= 0: // A tool such as Checker can write its name after "compatible;".
		return false
	case s.kindBits&unknownWordBit == 0: // Among words of browsers, only an address can be evidence of a robot.
		return !hasContact || s.robotContactIndex() < 0
	default: // An unknown product among several words of browsers is an app or an extension.
		return !hasContact && s.numBrowserWords > 1
	}
}

// startsLikeBrowser reports whether the first word of the User-Agent is a word of browsers, such as
// Mozilla or Opera, or is "like", "compatible" or Android. Numbers and contacts before it are
// skipped.
func (s *parsedUserAgent) startsLikeBrowser() bool {
	switch s.firstKind {
	case words.Browser, words.Like, words.Compatible, words.Device:
		return true
	}
	return false
}

// identify identifies a client whose User-Agent is not a plain browser's (see isPlainBrowser).
func (s *parsedUserAgent) identify(r *Registry, o *Overlay) Identity {
	registered, program := s.findRegisteredNames(r)
	isOwnName := registered.Crawler != nil && !s.isOnlyMentioned(registered)
	if isOwnName && registered.WildcardApplies() {
		if o != nil { // In FooBot/Nutch-1.7, FooBot (a name of the overlay) is the client and Nutch its software.
			if id := s.identifyByOverlay(o, int(s.crawlerOffset)); id.Token != "" {
				registered.Token = id.Token
			}
		}
		return registered
	}
	if o != nil {
		if id := s.identifyByOverlay(o, len(s.ua)); id.Token != "" {
			return s.applyRobotClass(id)
		}
	}
	if isOwnName {
		if name := s.unregisteredRobotName(); name != "" {
			return s.applyFamily(r, Identity{Token: name, Class: GenericCrawler, Evidence: FromSuffix})
		}
		return registered
	}
	if id := s.identifyByStructure(program); id.Token != "" {
		return s.applyFamily(r, id)
	}
	if program.Crawler != nil {
		return s.replaceAppEngineToken(r, program)
	}
	if id := s.identifyByContact(r); id.Token != "" {
		return id
	}
	if i := s.firstProductIndex(); i >= 0 && !s.startsLikeBrowser() {
		name := s.nameStartingAt(i)
		if looksLikeLibrary(name) {
			return Identity{Token: name, Class: Library, Evidence: FromLibrary}
		}
		if start := int(s.words[i].start); s.startsWithName(i, name) {
			name = s.ua[start:s.endOfEscapedName(start+len(name))]
		}
		return s.applyFamily(r, Identity{Token: name, Class: Other, Evidence: FromFirstProduct})
	}
	return Identity{}
}

// isOnlyMentioned reports whether the User-Agent mentions the crawler registered, but its first
// product is an unknown robot: "FooBot (compatible; Googlebot/2.1)". If the `*` group applies to
// the crawler, a first product with a service's name, such as FooBot-Preview, does not qualify.
func (s *parsedUserAgent) isOnlyMentioned(registered Identity) bool {
	return s.startsWithRobot() && !(registered.WildcardApplies() && isServiceName(s.nameStartingAt(s.firstProductIndex())))
}

// startsWithRobot reports whether the first product is not in the registry and is spelled like a
// robot's name.
func (s *parsedUserAgent) startsWithRobot() bool {
	if s.startsLikeBrowser() {
		return false
	}
	w := &s.words[s.firstProductIndex()]
	return w.kind == words.Unknown && w.flags&spelledLikeRobot != 0
}

// unregisteredRobotName returns the name of a product that is not in the registry and is spelled
// like a robot's name, or "". The name takes precedence over a registry name that is exempt from
// `*`.
func (s *parsedUserAgent) unregisteredRobotName() string {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags&spelledLikeRobot != 0 && w.flags&(afterLike|notAProduct|inDevice) == 0 &&
			(s.hasSlashAfter(i) || w.flags&afterCompatible != 0) && !isServiceName(s.wordText(w)) && !hasGoogleForm(s.wordText(w)) {
			return cutVersion(s.wordText(w))
		}
	}
	return ""
}

// wordText returns the bytes of the word w.
func (s *parsedUserAgent) wordText(w *word) string { return s.ua[w.start:w.end] }

// firstProductIndex returns the index of the first word that is not a URL or mail address, or -1.
// If the User-Agent does not begin like a browser's, that word is its first product.
func (s *parsedUserAgent) firstProductIndex() int {
	for i := range s.words[:s.numWords] {
		if s.words[i].kind != words.Contact {
			return i
		}
	}
	return -1
}

// hasOnlyMozillaAsBrowserWord reports whether the User-Agent begins with Mozilla and contains no
// other word of browsers.
func (s *parsedUserAgent) hasOnlyMozillaAsBrowserWord() bool {
	return s.numBrowserWords <= 1 && s.startsWithMozilla()
}

// startsWithMozilla reports whether the User-Agent begins with Mozilla.
func (s *parsedUserAgent) startsWithMozilla() bool {
	w := words.FirstWord(s.ua)
	return len(w) == len("mozilla") && hasFoldedPrefix(w, "mozilla")
}

// startsWithMozilla5 reports whether the User-Agent begins with "Mozilla/5.0 " and a letter, digit
// or parenthesis. Robots send this prefix too, but many old browsers do not.
func (s *parsedUserAgent) startsWithMozilla5() bool {
	return len(s.ua) > 12 && hasFoldedPrefix(s.ua, "mozilla/5.0 ") && (s.ua[12] == '(' || words.IsAlnum(s.ua[12]))
}

// contactIndexFor returns the index of the URL or mail address that belongs to word i, or -1. The
// address must follow the word, in the same comment or in a comment directly after the product.
func (s *parsedUserAgent) contactIndexFor(i int) int {
	w := &s.words[i]
	comment := w.comment
	for j := i + 1; j < s.numWords; j++ {
		v := &s.words[j]
		if v.comment != comment {
			if comment != 0 || !s.containsOnlyVersion(int(w.end), int(v.start)) {
				return -1
			}
			comment = v.comment
		}
		if v.kind != words.Contact || s.startsLikeBrowser() && hasFoldedPrefix(s.wordText(v), "www.") {
			continue
		}
		if w.comment == 0 && !s.containsOnlyVersion(int(w.end), int(v.start)) && v.comment == 0 && s.startsLikeBrowser() && j != i+1 {
			return -1
		}
		return j
	}
	return -1
}

// containsOnlyVersion reports whether ua[from:to] contains no word except a version. The start of a
// comment can follow the version.
func (s *parsedUserAgent) containsOnlyVersion(from, to int) bool {
	spaces := 0
	for i := from; i < to; i++ {
		switch c := s.ua[i]; {
		case c == '(' || c == '[':
			return true
		case c == ' ':
			spaces++
		case spaces > 0 && words.Fold[c]&words.Letter != 0:
			return false
		}
	}
	return true
}
