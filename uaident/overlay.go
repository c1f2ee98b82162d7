package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// maxOverlayNames is the maximum number of names in an overlay, which bounds the cost of a hostile
// robots.txt.
const maxOverlayNames = 256

// maxName is the maximum length of a crawler name in bytes, in registries, overlays and
// User-Agents.
const maxName = 100

// Overlay is an immutable set of group names of a robots.txt that the registry does not contain.
// [Registry.IdentifyWithOverlay] identifies clients by these names.
type Overlay struct {
	names []overlayName
	firstWordFilter
	includesApplications bool // includesApplications is true if the names also identify applications.
}

// WithApplications returns a copy of o whose names also identify desktop applications on a browser
// engine, such as VS Code by the name Code. By default such applications are browsers. The result
// for a nil o is nil.
func (o *Overlay) WithApplications() *Overlay {
	if o == nil {
		return nil
	}
	clone := *o
	clone.includesApplications = true
	return &clone
}

// firstWordFilter is a Bloom filter for the hashes of the first words of an overlay's names.
type firstWordFilter [4]uint64

// add adds the hash of a word.
func (f *firstWordFilter) add(hash uint32) { f[hash>>6&3] |= 1 << (hash & 63) }

// mayContain reports whether the hash may have been added. The result is never false for an added
// hash.
func (f *firstWordFilter) mayContain(hash uint32) bool { return f[hash>>6&3]&(1<<(hash&63)) != 0 }

// overlayName is a group name of a robots.txt in an [Overlay].
type overlayName struct {
	lowerCaseName string // The name is in lower case and has no version.
	spelling      string // spelling is the name as in the robots.txt.
	hash          uint32 // hash is the hash of the first word.
}

// NewOverlay returns an overlay for [Registry.IdentifyWithOverlay] with the given group names of a
// robots.txt, or nil if no name is usable. NewOverlay removes the rest of a name from the first `*`
// or slash, such as the version in FooBot/2.1. NewOverlay drops names in the registry, words of
// words.json, first words of registry names, names without a letter or with another first byte than
// a letter or digit, names longer than 100 bytes, and names after the first 256 usable names. The
// overlay does not retain names.
func (r *Registry) NewOverlay(names []string) *Overlay {
	var o *Overlay
	for _, name := range names {
		if o != nil && len(o.names) == maxOverlayNames {
			break
		}
		name = strings.TrimSpace(name)
		text, _, _ := strings.Cut(name, "*")
		text, _, _ = strings.Cut(text, "/")
		text = strings.ToLower(strings.TrimSpace(text))
		first := words.FirstWord(text)
		if first == "" || len(name) > maxName || !hasLetter(text) || r.Lookup(text) != nil {
			continue
		}
		k := r.findKey(first, words.Hash(first))
		if k != nil && len(first) == len(text) {
			continue
		}
		if o == nil {
			o = new(Overlay)
		}
		// Without the clone, the overlay would retain the memory of the robots.txt.
		name, text = strings.Clone(name), strings.Clone(text)
		n := overlayName{lowerCaseName: text, spelling: name, hash: words.Hash(first)}
		o.names = append(o.names, n)
		o.add(n.hash)
	}
	return o
}

// hasLetter reports whether s contains an ASCII letter.
func hasLetter(s string) bool {
	for i := range len(s) {
		if words.Fold[s[i]]&words.Letter != 0 {
			return true
		}
	}
	return false
}

// identifyByOverlay identifies a client by a name of the overlay that begins before the offset
// until. identifyByOverlay first looks for a name in the position of a product, then for a
// name with a version, as in FooBot-2.0. If until is the end of the User-Agent, identifyByOverlay
// also looks in URLs.
func (s *parsedUserAgent) identifyByOverlay(o *Overlay, until int) Identity {
	if id := s.identifyByOverlayName(o, until, false); id.Token != "" {
		return id
	}
	if id := s.identifyByOverlayName(o, until, true); id.Token != "" {
		return id
	}
	if until < len(s.ua) {
		return Identity{}
	}
	return s.identifyByHostInOverlay(o)
}

// identifyByOverlayName identifies a client by a name of the overlay in the position of a product.
// withVersion selects words that consist of a name and a version, as in FooBot-2.0.
func (s *parsedUserAgent) identifyByOverlayName(o *Overlay, until int, withVersion bool) Identity {
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		if int(w.start) >= until {
			break
		}
		if w.kind == words.Contact || w.flags&(afterLike|notAProduct) != 0 {
			continue
		}
		hash := w.hash
		if withVersion && w.kind == words.Unknown {
			if text := s.wordText(w); len(text) <= maxName {
				if n := versionOffset(text); n > 0 {
					hash = words.Hash(text[:n])
				}
			}
		}
		if !o.mayContain(hash) {
			continue
		}
		for j := range o.names {
			n := &o.names[j]
			end := int(w.start) + len(n.lowerCaseName)
			if n.hash != hash || !hasFoldedPrefix(s.ua[w.start:], n.lowerCaseName) ||
				!s.canWordEnd(end) && !(withVersion && s.hasVersionFrom(int(w.start)+strings.LastIndexByte(n.lowerCaseName, ' ')+1, end)) ||
				!s.isProduct(i, end, o.includesApplications) || s.endOfEscapedName(end) > end {
				continue
			}
			return Identity{Token: s.ua[w.start:end], Class: Other, Evidence: FromGroupName, groupName: n.spelling}
		}
	}
	return Identity{}
}

// canWordEnd reports whether no byte of a word follows at the offset at.
func (s *parsedUserAgent) canWordEnd(at int) bool {
	return at == len(s.ua) || words.Fold[s.ua[at]] <= words.Dot
}

// hasVersionFrom reports whether the word that begins at start has a version from the offset at to
// its end.
func (s *parsedUserAgent) hasVersionFrom(start, at int) bool {
	return versionOffset(words.FirstWord(s.ua[start:min(start+maxName, len(s.ua))])) == at-start
}

// isProduct reports whether the name from word i to the offset end is a product, such as a name
// with a version or a contact. If includesApplications is true, the name can also be a desktop application's.
func (s *parsedUserAgent) isProduct(i, end int, includesApplications bool) bool {
	w := &s.words[i]
	if i == s.firstProductIndex() && !s.startsLikeBrowser() {
		return true
	}
	if w.flags&inDevice != 0 {
		return false
	}
	if w.flags&afterCompatible != 0 || s.contactIndexFor(i) >= 0 {
		return true
	}
	if !includesApplications && s.isApplicationAt(int(w.start), end) {
		return false
	}
	if looksLikeRobot(s.ua[w.start:end]) {
		return true
	}
	return end < len(s.ua) && s.ua[end] == '/' && w.comment == 0 ||
		end+1 < len(s.ua) && s.ua[end] == '/' && words.IsDigit(s.ua[end+1])
}

// applyRobotClass returns id with the class GenericCrawler if the structure of the User-Agent is a
// robot's, and id unchanged otherwise.
func (s *parsedUserAgent) applyRobotClass(id Identity) Identity {
	if s.identifyByStructure(Identity{}).Token != "" {
		id.Class = GenericCrawler
	}
	return id
}
