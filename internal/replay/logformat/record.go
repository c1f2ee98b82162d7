package logformat

import "bytes"

// Record is what a line says of a request. Its slices belong to the line or to
// the parser and hold until the next line is parsed.
type Record struct {
	At        int64 // Unix time in nanoseconds
	HasTime   bool
	Method    []byte // empty where the format does not have it
	Target    []byte // as sent; empty if there was no request that can be judged
	Host      []byte // with the port if that is logged; empty if not known
	UserAgent []byte // empty for none
	Client    []byte // the address; empty if not known
	Status    int    // 0 if not known
	Bytes     int64  // of the answer, with its header or without; 0 if not known
	Guarded   bool   // the log says that a robots_guard has answered in place of the site
}

// Outcome says what a line is.
type Outcome uint8

// What a line can be.
const (
	Request   Outcome = iota
	Other             // a comment, a directive, a message about something else
	Malformed         // no line of the format
)

// Parser reads the lines of one format. It keeps a buffer, so each goroutine
// needs its own.
type Parser interface {
	// Parse reads a line without its end. why says in a few words what is wrong
	// with a malformed one.
	Parse(line []byte, r *Record) (what Outcome, why string)
}

// setTarget takes a request target into the record. What has no path, such as
// "*", the host of a CONNECT or garbage, is left out: there is nothing to judge.
// The authority of an absolute form wins over a Host field (RFC 9112 section
// 3.2.2).
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

// setRequest takes a request line apart. Only the target can contain spaces,
// and servers refuse those.
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

// orEmpty turns the "-" that logs have for what was not sent into nothing.
func orEmpty(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

// foldEqual reports whether b is s, a lower-case word, in any case.
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

// parseSize reads a number of bytes; 0 for anything else, such as "-".
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

// parseStatus reads a three-digit status; 0 for anything else.
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
