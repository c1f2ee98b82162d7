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

// Overlay is an immutable set of crawler names from a policy that the registry does not contain.
type Overlay struct {
	names []overlayName
	firstWordFilter
	applications bool // the names also identify applications
}

// WithApplications returns a copy of o whose names also identify applications on a browser engine,
// such as VS Code by the name Code. Such applications are browsers by default. WithApplications
// returns nil for nil.
func (o *Overlay) WithApplications() *Overlay {
	if o == nil {
		return nil
	}
	with := *o
	with.applications = true
	return &with
}

// firstWordFilter is a filter over the hashes of the names' first words, with false positives and
// no false negatives.
type firstWordFilter [4]uint64

func (f *firstWordFilter) add(hash uint32) { f[hash>>6&3] |= 1 << (hash & 63) }

func (f *firstWordFilter) mayContain(hash uint32) bool { return f[hash>>6&3]&(1<<(hash&63)) != 0 }

type overlayName struct {
	foldedName string // lower case, without a version
	spelling   string // spelling in the policy
	hash       uint32 // of the first word
}

// Overlay returns an overlay for [Registry.IdentifyWith] with the given group names of a policy.
// Overlay skips names in the registry, words of browsers and generic robot words. Overlay ignores a
// version at the end of a name (FooBot/2.1) and a `*`. Overlay drops names after the first 256 and
// names longer than 100 bytes. Overlay returns nil if no name remains. The overlay does not refer
// to the memory of names.
func (r *Registry) Overlay(names []string) *Overlay {
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
		k := r.key(first, words.Hash(first))
		if k != nil && len(first) == len(text) {
			continue
		}
		if o == nil {
			o = new(Overlay)
		}
		name, text = strings.Clone(name), strings.Clone(text) // release the memory of the policy
		n := overlayName{foldedName: text, spelling: name, hash: words.Hash(first)}
		o.names = append(o.names, n)
		o.add(n.hash)
	}
	return o
}

func hasLetter(s string) bool {
	for i := range len(s) {
		if words.Fold[s[i]]&words.Letter != 0 {
			return true
		}
	}
	return false
}

// overlayIdentity finds a name of the overlay that stands as a product. overlayIdentity then tries
// names followed by a version, as in FooBot-2.0, and at last labels of hosts. The name must begin
// before until.
func (s *parsedUserAgent) overlayIdentity(o *Overlay, until int) Identity {
	if id := s.overlayIdentityWith(o, until, false); id.Token != "" {
		return id
	}
	if id := s.overlayIdentityWith(o, until, true); id.Token != "" {
		return id
	}
	if until < len(s.ua) {
		return Identity{}
	}
	return s.overlayNameByHost(o)
}

// overlayIdentityWith is overlayIdentity for names that are followed by a version, as in FooBot-2.0
// (withVersion is true), or for names that are not.
func (s *parsedUserAgent) overlayIdentityWith(o *Overlay, until int, withVersion bool) Identity {
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
			end := int(w.start) + len(n.foldedName)
			if n.hash != hash || !hasFoldedPrefix(s.ua[w.start:], n.foldedName) ||
				!s.wordEndsAt(end) && !(withVersion && s.versionFollows(int(w.start)+strings.LastIndexByte(n.foldedName, ' ')+1, end)) ||
				!s.isProduct(i, end, o.applications) || s.endOfEscapedName(end) > end {
				continue
			}
			return Identity{Token: s.ua[w.start:end], Class: Other, Evidence: FromPolicyName, policyName: n.spelling}
		}
	}
	return Identity{}
}

// wordEndsAt reports whether a word can end at at.
func (s *parsedUserAgent) wordEndsAt(at int) bool {
	return at == len(s.ua) || words.Fold[s.ua[at]] <= words.Dot
}

// versionFollows reports whether the word that begins at start contains only a version from
// at on.
func (s *parsedUserAgent) versionFollows(start, at int) bool {
	return versionOffset(words.FirstWord(s.ua[start:min(start+maxName, len(s.ua))])) == at-start
}

// isProduct reports whether the name from word i to end has the position of a product. The
// name of an application has that position only if applications is true.
func (s *parsedUserAgent) isProduct(i, end int, applications bool) bool {
	w := &s.words[i]
	if i == s.firstProduct() && !s.startsLikeBrowser() {
		return true
	}
	if w.flags&inDevice != 0 {
		return false
	}
	if w.flags&afterCompatible != 0 || s.contactOfProduct(i) >= 0 {
		return true
	}
	if !applications && s.belongsToApplication(int(w.start), end) {
		return false
	}
	if looksLikeRobot(s.ua[w.start:end]) {
		return true
	}
	return end < len(s.ua) && s.ua[end] == '/' && w.comment == 0 ||
		end+1 < len(s.ua) && s.ua[end] == '/' && words.IsDigit(s.ua[end+1])
}

// setRobotClass changes the class to GenericCrawler if the structure of the User-Agent is a
// robot's.
func (s *parsedUserAgent) setRobotClass(id Identity) Identity {
	if s.identifyByStructure(Identity{}).Token != "" {
		id.Class = GenericCrawler
	}
	return id
}
