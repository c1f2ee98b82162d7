package logformat

import "bytes"

// Record is the request in a line. The slices refer to the line or to memory of the parser, and are
// valid until the next call of Parse.
type Record struct {
	At              int64 // Unix time in nanoseconds
	HasTime         bool
	Method          []byte // empty if the format has no method
	Target          []byte // as sent; empty without a request to judge
	Host            []byte // with the port if logged; empty if unknown
	UserAgent       []byte // empty if absent
	Client          []byte // the address; empty if unknown
	Status          int    // 0 if unknown
	Bytes           int64  // the size of the response, with or without its header; 0 if unknown
	AnsweredByGuard bool   // a robots_guard responded instead of the site
}

// Outcome is the kind of a line.
type Outcome uint8

// The kinds of lines.
const (
	Request   Outcome = iota
	Other             // a comment, a directive or another message
	Malformed         // not a line of the format
)

// Parser parses the lines of a format. A Parser is not safe for concurrent use.
type Parser interface {
	// Parse parses a line without its line ending. why is the problem of a malformed line, in a few
	// words.
	Parse(line []byte, r *Record) (what Outcome, why string)
}

// setTarget stores a request target in the record. Targets without a path are ignored, for example
// "*", the host of a CONNECT, or garbage. The authority of an absolute form overrides a Host field
// (RFC 9112 section 3.2.2).
func (r *Record) setTarget(target []byte) {
	r.Target = nil
	if len(target) == 0 {
		return
	}
	if target[0] == '/' {
		r.Target = target
		return
	}
	i := bytes.Index(target, []byte("://"))
	if i != 4 && i != 5 || !foldEqual(target[:i], "http") && !foldEqual(target[:i], "https") {
		return
	}
	r.Target = target
	host := target[i+3:]
	if end := bytes.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	if at := bytes.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	r.Host = host
}

// setRequest splits a request line. Only the target can contain spaces, and servers reject such
// requests.
func (r *Record) setRequest(line []byte) {
	i := bytes.IndexByte(line, ' ')
	if i <= 0 {
		return
	}
	r.Method = line[:i]
	target := line[i+1:]
	if j := bytes.LastIndexByte(target, ' '); j >= 0 && bytes.HasPrefix(target[j+1:], []byte("HTTP/")) {
		target = target[:j]
	}
	r.setTarget(target)
}

// dashToEmpty returns nil for "-", which means an absent field.
func dashToEmpty(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

// foldEqual reports whether b equals s without regard to case. s is in lower case.
func foldEqual(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if c|0x20 != s[i] {
			return false
		}
	}
	return true
}

// parseSize parses a number of bytes. Anything else, for example "-", results in 0.
func parseSize(b []byte) (n int64) {
	if len(b) > 18 {
		return 0
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// parseStatus parses a three-digit status. Anything else results in 0.
func parseStatus(b []byte) int {
	if len(b) != 3 {
		return 0
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
