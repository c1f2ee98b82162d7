package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// maxOverlayNames bounds an overlay, so that a hostile robots.txt costs little.
const maxOverlayNames = 256

// maxName bounds the name of a crawler, in bytes: those in registries and overlays, and
// the words that are looked up as if they were names.
const maxName = 100

// Overlay holds the names that only a policy knows. It is immutable.
type Overlay struct {
	names []overlayName
	firsts
	applications bool // the names also count in the User-Agent of an application
}

// WithApplications returns a copy of o whose names also identify applications on a browser
// engine, which are browsers by default: VS Code by the name Code. It returns nil for nil.
func (o *Overlay) WithApplications() *Overlay {
	if o == nil {
		return nil
	}
	with := *o
	with.applications = true
	return &with
}

// firsts are the hashes of the first words of names, as far as a bit for each tells: a
// hash that is not among them belongs to no name.
type firsts [4]uint64

func (f *firsts) add(hash uint32) { f[hash>>6&3] |= 1 << (hash & 63) }

func (f *firsts) mayHave(hash uint32) bool { return f[hash>>6&3]&(1<<(hash&63)) != 0 }

type overlayName struct {
	text string // lower case, without a version
	name string // as the policy spells it
	hash uint32 // of the first word
	many bool   // has more than one word
}

// Overlay returns what [Registry.IdentifyWith] needs to know the names of a
// policy's groups that r does not know: those that are neither a token or alias
// nor a word that browsers use or that any robot's User-Agent may have. A version
// at the end of a name (FooBot/2.1) and a `*` are ignored. It is nil if no name
// is left; names beyond the first 256 and names longer than 100 bytes are
// dropped. It keeps copies of the names.
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
		name, text = strings.Clone(name), strings.Clone(text) // not all of the policy
		n := overlayName{text: text, name: name, hash: words.Hash(first), many: len(first) < len(text)}
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

// named looks for a name of the overlay that stands as a product, then for one that a
// version runs into: a crawler that calls itself FooBot-2.0 obeys the group of FooBot, and then
// for one that is the label of a host. The name has to begin before the given place.
func (s *scan) named(o *Overlay, until int) Identity {
	if id := s.namedAs(o, until, false); id.Token != "" {
		return id
	}
	if id := s.namedAs(o, until, true); id.Token != "" {
		return id
	}
	if until < len(s.ua) {
		return Identity{}
	}
	return s.namedByHost(o)
}

// namedAs is named with a version at the end of the name, or without.
func (s *scan) namedAs(o *Overlay, until int, withVersion bool) Identity {
	for i := range s.words[:s.n] {
		w := &s.words[i]
		if int(w.start) >= until {
			break
		}
		if w.kind == words.Contact || w.flags&(afterLike|inVersion) != 0 {
			continue
		}
		hash := w.hash
		if withVersion && w.kind == words.Unknown {
			if text := s.text(w); len(text) <= maxName {
				if n := versionOf(text); n > 0 {
					hash = words.Hash(text[:n])
				}
			}
		}
		if !o.mayHave(hash) {
			continue
		}
		for j := range o.names {
			n := &o.names[j]
			end := int(w.start) + len(n.text)
			if n.hash != hash || !hasFoldedPrefix(s.ua[w.start:], n.text) ||
				!s.nameEnds(end) && !(withVersion && s.versionFollows(int(w.start)+strings.LastIndexByte(n.text, ' ')+1, end)) ||
				!s.isProduct(i, end, o.applications) || s.escapedTo(end) > end {
				continue
			}
			return Identity{Token: s.ua[w.start:end], Class: Other, Evidence: FromPolicyName, policyName: n.name}
		}
	}
	return Identity{}
}

// nameEnds reports whether no word goes on at the given place.
func (s *scan) nameEnds(at int) bool { return at == len(s.ua) || words.Fold[s.ua[at]] <= words.Dot }

// versionFollows reports whether the word that begins at start has nothing but its version
// from the given place on.
func (s *scan) versionFollows(start, at int) bool {
	return versionOf(words.FirstWord(s.ua[start:min(start+maxName, len(s.ua))])) == at-start
}

// isProduct reports whether the name that is word i and ends at end stands
// where products do. The name of an application counts only if applications is true.
func (s *scan) isProduct(i, end int, applications bool) bool {
	w := &s.words[i]
	if i == s.firstProduct() && !s.likeBrowser() {
		return true
	}
	if w.flags&inDevice != 0 {
		return false
	}
	if w.flags&afterCompatible != 0 || s.contactOf(i) >= 0 {
		return true
	}
	if !applications && s.ofApplication(int(w.start), end) {
		return false
	}
	if robotLike(s.ua[w.start:end]) {
		return true
	}
	return end < len(s.ua) && s.ua[end] == '/' && w.comment == 0 ||
		end+1 < len(s.ua) && s.ua[end] == '/' && words.Digit(s.ua[end+1])
}

// asRobot raises an identity by a policy's name to a crawler if the structure
// of the User-Agent says so too.
func (s *scan) asRobot(id Identity) Identity {
	if s.byStructure(Identity{}).Token != "" {
		id.Class = GenericCrawler
	}
	return id
}
