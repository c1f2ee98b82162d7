package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// Bounds on what is read of a User-Agent.
const (
	maxBytes = 2048 // what follows changes nothing
	maxWords = 48   // what is kept beside stop words and numbers
)

// A word of a User-Agent, or a URL or mail address in it.
type word struct {
	hash       uint32
	start, end uint16
	key        int16 // number of its key, -1 if unknown
	kind       words.Kind
	flags      wordFlags
	comment    uint8 // ordinal of the comment that it is in, 0 outside of all
}

type wordFlags uint8

const (
	afterLike       wordFlags = 1 << iota // "like Googlebot"
	afterCompatible                       // "compatible; Googlebot"
	inDevice                              // in a comment after "Android"
	inVersion                             // directly after a slash, or part of a longer name
	isRobot                               // spelled like a robot's name
)

// before is what the words before a word say of it.
type before struct {
	flags  wordFlags
	device bool // "Android" stands in the same comment
}

// scan is a User-Agent split into words.
type scan struct {
	ua    string
	words [maxWords]word
	n     int
	first words.Kind // of the first word that is not a number
	any   bool       // there is a word at all
	stops int        // number of stop words
	signs uint32     // bit per kind of word, and the bits below
	known uint16     // where the crawler begins that the registry has
}

// Bits of scan.signs beside those of the kinds.
const (
	signRobotLike  = 1 << (16 + iota) // an unknown word that ends like a robot's name
	signCompatible                    // an unknown word where "compatible;" has a robot's
	signPlain                         // an unknown word
)

func sign(k words.Kind) uint32 { return 1 << k }

// depthOf is what a byte between words adds to the depth of comments.
var depthOf = [256]int8{'(': 1, ')': -1, '[': 1, ']': -1}

// What browsers' User-Agents have in common is passed over as a whole, which
// halves the time for most; reading it word by word would find nothing in it.
const (
	mozilla5 = "Mozilla/5.0 (" // at the start; a comment opens
	webKit1  = "AppleWebKit/537.36 (KHTML, like Gecko) "
	webKit2  = "AppleWebKit/605.1.15 (KHTML, like Gecko) "

	webKitStops = 3 // AppleWebKit, KHTML, Gecko
)

// split splits a User-Agent into words, in one pass from left to right.
//
// A word is a run of letters, digits, "_", "-" and "!" that starts with a
// letter or digit, with dots inside; so Googlebot-Image is one word, and never
// Googlebot. Numbers and versions are passed over, and so are stop words.
func (s *scan) split(r *Registry, ua string) {
	if len(ua) > maxBytes {
		ua = ua[:maxBytes]
	}
	s.ua = ua
	var (
		i        int
		depth    int8
		comment  uint8 // that i is in
		comments uint8 // so far
		said     before
	)
	if strings.HasPrefix(ua, mozilla5) {
		i, depth, comment, comments = len(mozilla5), 1, 1, 1
		s.any, s.first, s.stops = true, words.Stop, 1
	}
	for i < len(ua) {
		c := words.Fold[ua[i]]
		if c < '0' { // no letter or digit: a gap, or punctuation before a word
			if d := depthOf[ua[i]]; d != 0 {
				if depth == 0 && d > 0 && comments < 255 {
					comments++
				}
				if depth += d; depth <= 0 {
					depth, comment, said.device = 0, 0, false
				} else {
					comment = comments
				}
			}
			if ua[i] == '%' && i+2 < len(ua) && words.Hex(ua[i+1]) && words.Hex(ua[i+2]) {
				i += 2 // an escaped byte, as in "Mozilla/5.0%20"
			}
			i++
			continue
		}
		if ua[i] == 'A' && depth == 0 && comments < 255 {
			if n := webKit(ua[i:]); n > 0 {
				i, comments, s.stops, said = i+n, comments+1, s.stops+webKitStops, before{}
				continue
			}
		}
		start := i
		end, hash, letters := wordAt(ua, start)
		i = end
		if i+1 < len(ua) && ua[i] == '/' && words.Digit(ua[i+1]) {
			for i += 2; i < len(ua) && words.Fold[ua[i]] != words.Gap; i++ { // a version
			}
		}
		if r.isStop(hash) {
			s.stops++
			if !s.any {
				s.any, s.first = true, words.Stop
			}
			said.flags = 0
			continue
		}
		w := word{hash: hash, start: uint16(start), end: uint16(end), key: -1, comment: comment}
		if start > 0 && ua[start-1] == '/' {
			w.flags = inVersion
		}
		var contactEnd int
		if contactEnd, said = s.take(r, w, letters, said); contactEnd > 0 {
			i = contactEnd
		}
	}
}

// wordAt returns where the word ends that begins at a place, its hash, and the classes of its
// bytes, together.
func wordAt(ua string, start int) (end int, hash uint32, letters byte) {
	hash, c := words.Seed, words.Fold[ua[start]]
	letters = c
	for end = start; ; letters |= c {
		hash = words.Step(hash, c)
		if end++; end == len(ua) {
			return end, hash, letters
		}
		if c = words.Fold[ua[end]]; c <= words.Dot {
			if c == words.Gap || end+1 == len(ua) || words.Fold[ua[end+1]] <= words.Dot {
				return end, hash, letters
			}
		}
	}
}

// take looks up a word that is not plainly a stop word, notes what it says of the
// client, and keeps it unless it can be no name. letters are the classes of its bytes,
// together, and said is what the words before say of it. It returns what they say of the
// next word, with it among them, and where the URL or mail address ends that begins with
// it, 0 if there is none.
func (s *scan) take(r *Registry, w word, letters byte, said before) (contactEnd int, next before) {
	s.lookUp(r, &w)
	if w.kind != words.Stop {
		if n := contactLength(s.ua, int(w.start), int(w.end)); n > 0 {
			contactEnd = int(w.start) + n
			w.end, w.kind, w.key = uint16(contactEnd), words.Contact, -1
		} else if letters&words.Letter == 0 && w.key < 0 {
			return 0, said // a number
		}
	}
	if !s.any && w.kind != words.Contact {
		s.any, s.first = true, w.kind
	}
	s.signs |= sign(w.kind)
	switch w.kind {
	case words.Like:
		said.flags |= afterLike
		return 0, said
	case words.Compatible:
		said.flags |= afterCompatible
		return 0, said
	case words.Device:
		said.device = true
		return 0, said
	case words.Stop:
		s.stops++
		if w.key < 0 {
			said.flags = 0
			return 0, said
		}
	case words.Unknown:
		s.noteUnknown(&w, said)
	}
	w.flags |= said.flags
	if said.device {
		w.flags |= inDevice
	}
	if s.n < maxWords {
		s.words[s.n] = w
		s.n++
	}
	return contactEnd, before{device: said.device}
}

// noteUnknown notes what a word says of the client that the registry does not know.
func (s *scan) noteUnknown(w *word, said before) {
	if w.flags&inVersion != 0 {
		return
	}
	s.signs |= signPlain
	if said.flags&afterCompatible != 0 {
		s.signs |= signCompatible
	}
	if robotLike(s.text(w)) && (w.start == 0 || s.ua[w.start-1] != '$') { // not "$BotName", which somebody forgot to fill in
		s.signs |= signRobotLike
		w.flags |= isRobot
	}
}

// webKit returns the length of WebKit's boilerplate that s begins with, or 0.
func webKit(s string) int {
	switch {
	case strings.HasPrefix(s, webKit1):
		return len(webKit1)
	case strings.HasPrefix(s, webKit2):
		return len(webKit2)
	}
	return 0
}

// isStop reports whether the word with this hash is a stop word. It looks only
// where a search begins, where most are; lookUp finds the others.
func (r *Registry) isStop(hash uint32) bool {
	slot := r.table[words.Slot(hash)]
	return words.Tag(slot) == words.Tag(hash) && words.Number(slot) <= r.stops && slot != 0
}

// lookUp sets what the registry knows of a word.
func (s *scan) lookUp(r *Registry, w *word) {
	for i := words.Slot(w.hash); ; i = (i + 1) & (words.Slots - 1) {
		slot := r.table[i]
		if slot == 0 {
			return
		}
		if words.Tag(slot) != words.Tag(w.hash) {
			continue
		}
		number := words.Number(slot) - 1
		if number < r.stops {
			w.kind = words.Stop
			return
		}
		k := &r.keys[number]
		text := s.ua[w.start:w.end]
		if len(k.Text) != len(text) || !hasFoldedPrefix(text, k.Text) {
			continue
		}
		w.key, w.kind = int16(number), k.Kind
		if len(k.Phrases) > 0 {
			s.signs |= sign(words.Name)
		}
		return
	}
}
