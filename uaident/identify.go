package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// Identify is Default().Identify.
func Identify(ua string) Identity { return defaultRegistry.IdentifyWith(ua, nil) }

// Identify tells who a User-Agent claims to be. Any bytes are fine; an empty
// User-Agent, or "-", is a browser. It reads at most 2,048 bytes and does not
// allocate.
//
// What decides, in this order:
//   - a name in the registry. Of several, one that the `*` group is meant for by
//     default wins, so that a name which it spares hides none that it does not;
//     then the first product of a User-Agent that does not begin with Mozilla,
//     then one with a URL or mail address next to it, then the first. A name
//     after "like" does not count, and a name that is also that of an app or an
//     ordinary word counts only in a place where products stand;
//   - structure that only robots have (class [GenericCrawler]): a word such as
//     FooBot, a form as in "(compatible; Foo/1.0; +http...", a URL or mail address
//     that says it is a robot's;
//   - structure that robots have and others, too (class [Other]): another URL or
//     mail address next to a product, a name after "compatible;" alone, a word
//     such as webhook or checker;
//   - the name of an HTTP library or a headless browser;
//   - the first product, if the User-Agent does not begin like a browser's
//     (class [Other]).
func (r *Registry) Identify(ua string) Identity { return r.IdentifyWith(ua, nil) }

// IdentifyWith is [Registry.Identify] with the names of a policy beside those
// of the registry; o may be nil. Such a name counts, after the registry's or where it
// stands before one of these, if it stands as a product: with a version or a contact,
// after "compatible;", as the first product, or if it looks like a robot's. A version may
// run into it. A browser that is identified by one is of class [Other]. The name of an
// application on a browser engine counts only with [Overlay.WithApplications].
func (r *Registry) IdentifyWith(ua string, o *Overlay) Identity {
	var s scan
	s.split(r, ua)
	if s.n == 0 {
		return Identity{}
	}
	if s.likeBrowser() && s.signs&signsOfRobots == 0 &&
		(s.signs&signPlain == 0 || s.signs&sign(words.Contact) == 0 && s.stops > 1) && !s.hasRobotContact() {
		if o == nil || s.signs&(signPlain|sign(words.Contact)) == 0 {
			return Identity{}
		}
		return s.named(o, len(s.ua))
	}
	return s.identify(r, o)
}

const signsOfRobots = signRobotLike | signCompatible | 1<<words.Name | 1<<words.Generic

// likeBrowser reports whether the User-Agent begins with a word that only
// browsers begin with, such as Mozilla or Opera.
func (s *scan) likeBrowser() bool {
	switch s.first {
	case words.Stop, words.Like, words.Compatible, words.Device:
		return true
	}
	return false
}

// identify tells who a User-Agent is that is not plainly a browser's.
func (s *scan) identify(r *Registry, o *Overlay) Identity {
	known, fallback := s.inRegistry(r)
	own := known.Crawler != nil && !s.hides(known)
	if own && known.Wildcard() {
		if o != nil { // what comes first is its own name, as in FooBot/Nutch-1.7
			if id := s.named(o, int(s.known)); id.Token != "" {
				known.Token = id.Token
			}
		}
		return known
	}
	if o != nil {
		if id := s.named(o, len(s.ua)); id.Token != "" {
			return s.asRobot(id)
		}
	}
	if own {
		if name := s.anotherRobot(); name != "" {
			return s.withFamily(r, Identity{Token: name, Class: GenericCrawler, Evidence: FromSuffix})
		}
		return known
	}
	if id := s.byStructure(fallback); id.Token != "" {
		return s.withFamily(r, id)
	}
	if fallback.Crawler != nil {
		return s.hosted(r, fallback)
	}
	if id := s.byAddress(r); id.Token != "" {
		return id
	}
	if i := s.firstProduct(); i >= 0 && !s.likeBrowser() {
		name := s.nameFrom(i)
		if libraryLike(name) {
			return Identity{Token: name, Class: Library, Evidence: FromLibrary}
		}
		if start := int(s.words[i].start); strings.HasPrefix(s.ua[start:], name) {
			name = s.ua[start:s.escapedTo(start+len(name))]
		}
		return s.withFamily(r, Identity{Token: name, Class: Other, Evidence: FromFirstProduct})
	}
	return Identity{}
}

// hides reports whether the first product is the own name of an unknown robot, so that the
// known one after it is only borrowed: "FooBot (compatible; Googlebot/2.1)". One that `*`
// would spare for its name, as FooBot-Preview, hides none that it judges.
func (s *scan) hides(known Identity) bool {
	return s.namesItself() && !(known.Wildcard() && servesSomebody(s.nameFrom(s.firstProduct())))
}

// namesItself reports whether the first product is an unknown robot's own name.
func (s *scan) namesItself() bool {
	if s.likeBrowser() {
		return false
	}
	w := &s.words[s.firstProduct()]
	return w.kind == words.Unknown && w.flags&isRobot != 0
}

// anotherRobot returns the name of an unknown product that is spelled like a
// robot's, or "": what stands beside a known name that the `*` group spares.
func (s *scan) anotherRobot() string {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if w.kind == words.Unknown && w.flags&isRobot != 0 && w.flags&(afterLike|inVersion|inDevice) == 0 &&
			(s.hasVersion(i) || w.flags&afterCompatible != 0) && !servesSomebody(s.text(w)) && !isGoogles(s.text(w)) {
			return cutVersion(s.text(w))
		}
	}
	return ""
}

func (s *scan) text(w *word) string { return s.ua[w.start:w.end] }

// firstProduct returns the number of the first word that can be a product, or
// -1.
func (s *scan) firstProduct() int {
	for i := range s.words[:s.n] {
		if s.words[i].kind != words.Contact {
			return i
		}
	}
	return -1
}

// bare reports whether the User-Agent says nothing of a browser but Mozilla.
func (s *scan) bare() bool { return s.stops <= 1 && s.mozilla() }

// mozilla reports whether the User-Agent begins with Mozilla.
func (s *scan) mozilla() bool {
	w := words.FirstWord(s.ua)
	return len(w) == len("mozilla") && hasFoldedPrefix(w, "mozilla")
}

// modern reports whether the User-Agent begins as those of browsers have for
// twenty years; robots do too, but many old browsers did not.
func (s *scan) modern() bool {
	return len(s.ua) > 12 && hasFoldedPrefix(s.ua, "mozilla/5.0 ") && (s.ua[12] == '(' || words.Alnum(s.ua[12]))
}

// contactOf returns the number of the URL or mail address that stands next to
// word i: later in the same comment, or in the comment that follows a product
// directly; or -1.
func (s *scan) contactOf(i int) int {
	w := &s.words[i]
	comment := w.comment
	for j := i + 1; j < s.n; j++ {
		v := &s.words[j]
		if v.comment != comment {
			if comment != 0 || !s.onlyVersion(int(w.end), int(v.start)) {
				return -1
			}
			comment = v.comment
		}
		if v.kind != words.Contact || s.likeBrowser() && hasFoldedPrefix(s.text(v), "www.") {
			continue
		}
		if w.comment == 0 && !s.onlyVersion(int(w.end), int(v.start)) && v.comment == 0 && s.likeBrowser() && j != i+1 {
			return -1
		}
		return j
	}
	return -1
}

// onlyVersion reports whether between two places there is nothing outside of
// comments but a version.
func (s *scan) onlyVersion(from, to int) bool {
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
