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

// run reads the User-Agent once, from left to right.
//
// A word is a run of letters, digits, "_", "-" and "!" that starts with a
// letter or digit, with dots inside; so Googlebot-Image is one word, and never
// Googlebot. Numbers and versions are passed over, and so are stop words.
func (s *scan) run(r *Registry, ua string) {
	if len(ua) > maxBytes {
		ua = ua[:maxBytes]
	}
	s.ua = ua
	var (
		i        int
		depth    int8
		comment  uint8 // that i is in
		comments uint8 // so far
		device   bool
		next     wordFlags // for the next word
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
					depth, comment, device = 0, 0, false
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
				i, comments, s.stops, next, device = i+n, comments+1, s.stops+webKitStops, 0, false
				continue
			}
		}
		start := i
		hash, letters := uint32(words.Seed), c
		for {
			hash = words.Step(hash, c)
			if i++; i == len(ua) {
				break
			}
			if c = words.Fold[ua[i]]; c <= words.Dot {
				if c == words.Gap || i+1 == len(ua) || words.Fold[ua[i+1]] <= words.Dot {
					break
				}
			}
			letters |= c
		}
		end := i
		if i+1 < len(ua) && ua[i] == '/' && words.Digit(ua[i+1]) {
			for i += 2; i < len(ua) && words.Fold[ua[i]] != words.Gap; i++ { // a version
			}
		}
		if r.isStop(hash) {
			s.stops++
			if !s.any {
				s.any, s.first = true, words.Stop
			}
			next = 0
			continue
		}
		w := word{hash: hash, start: uint16(start), end: uint16(end), key: -1, comment: comment}
		if start > 0 && ua[start-1] == '/' {
			w.flags = inVersion
		}
		s.lookUp(r, &w)
		if w.kind != words.Stop {
			if n := contactLength(ua, start, end); n > 0 {
				i = start + n
				w.end, w.kind, w.key = uint16(i), words.Contact, -1
			} else if letters&words.Letter == 0 && w.key < 0 {
				continue
			}
		}
		if !s.any && w.kind != words.Contact {
			s.any, s.first = true, w.kind
		}
		s.signs |= sign(w.kind)
		switch w.kind {
		case words.Like:
			next |= afterLike
			continue
		case words.Compatible:
			next |= afterCompatible
			continue
		case words.Device:
			device = true
			continue
		case words.Stop:
			s.stops++
			if w.key < 0 {
				next = 0
				continue
			}
		case words.Unknown:
			if w.flags&inVersion != 0 {
				break
			}
			s.signs |= signPlain
			if next&afterCompatible != 0 {
				s.signs |= signCompatible
			}
			if robotLike(ua[start:end]) && (start == 0 || ua[start-1] != '$') { // not "$BotName", which somebody forgot to fill in
				s.signs |= signRobotLike
				w.flags |= isRobot
			}
		}
		w.flags |= next
		next = 0
		if device {
			w.flags |= inDevice
		}
		if s.n < maxWords {
			s.words[s.n] = w
			s.n++
		}
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
	return words.Tag(slot) == words.Tag(hash) && int(slot&(1<<words.IndexBits-1)) <= r.stops && slot != 0
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
		number := int(slot&(1<<words.IndexBits-1)) - 1
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

var schemes = [...]string{"http", "https"}

// contactLength returns how long the URL or mail address is that begins with
// the word ua[start:end], or 0 if there is none.
func contactLength(ua string, start, end int) int {
	rest := ua[end:]
	switch {
	case len(rest) >= 3 && rest[0] == ':' && rest[1] == '/' && rest[2] == '/' && isOneOf(ua[start:end], schemes[:]):
	case len(rest) > 1 && rest[0] == '@' && words.Alnum(rest[1]) && hasDot(rest):
	case len(rest) > 1 && rest[0] == '+' && isTag(rest[1:]):
	case end-start > 4 && hasFoldedPrefix(ua[start:end], "www."):
	default:
		return 0
	}
	for end < len(ua) {
		switch ua[end] {
		case ' ', '(', ')', ';', ',', '"', '\'', '<', '>', '[', ']', '\t':
			return end - start
		}
		end++
	}
	return end - start
}

// isTag reports whether s begins with what may follow a plus sign in a mail address:
// "crawlers+links@example.com".
func isTag(s string) bool {
	s = s[len(words.FirstWord(s)):]
	return len(s) > 1 && s[0] == '@' && words.Alnum(s[1]) && hasDot(s)
}

// hasDot reports whether the word after the @ sign in s begins like a domain,
// with a letter before and after a dot; in Ecosia's "ios@8.3.0" it does not.
func hasDot(s string) bool {
	s = s[1:]
	host := words.FirstWord(s)
	letters := false
	for i := range len(host) {
		letters = letters || words.Fold[host[i]]&words.Letter != 0
		if host[i] == '.' && letters && words.Fold[host[i+1]]&words.Letter != 0 {
			return true
		}
	}
	return false
}
