package logformat

import "bytes"

// Record is the request in a log line. Its slices share the memory of the line or the parser, and
// are valid until the next call of Parse.
type Record struct {
	At      int64 // At is Unix time in nanoseconds.
	HasTime bool
	Method  []byte // Method is empty if the format has no method.
	// Target is the request target, usually as sent. nginx may log a decoded path instead. Target
	// is empty if the request target has no path, as in OPTIONS *.
	Target          []byte
	Host            []byte // Host includes the port if it was logged. It is empty if it is unknown.
	UserAgent       []byte // UserAgent is empty if it is absent.
	Client          []byte // Client is the client's address. It is empty if it is unknown.
	Status          int    // Status is 0 if it is unknown.
	Bytes           int64  // Bytes is the size of the response, with or without its header. It is 0 if unknown.
	AnsweredByGuard bool   // AnsweredByGuard is true if a robots_guard responded instead of the site.
}

// Outcome tells what kind of line was parsed.
type Outcome uint8

// These are the kinds of lines.
const (
	Request   Outcome = iota
	Other             // Other is an empty line, or a line of Caddy that is not about a response.
	Malformed         // Malformed is a line in another format.
)

// Parser parses the lines of a log. It is not safe for concurrent use.
type Parser interface {
	// Parse parses a line without its line ending. why is the problem of a malformed line, in a few
	// words.
	Parse(line []byte, r *Record) (what Outcome, why string)
}

// setTarget sets Target, and Host for a target with an authority (RFC 9112 section 3.2.2).
// setTarget ignores targets without a path, such as "*" or the host of a CONNECT.
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
	if i != 4 && i != 5 || !equalFoldASCII(target[:i], "http") && !equalFoldASCII(target[:i], "https") {
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

// setRequestLine sets Method and Target from a request line. It accepts spaces in the target, as in
// malformed requests.
func (r *Record) setRequestLine(line []byte) {
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

// dashToNil returns nil for "-", by which logs mark a missing value. Other values stay unchanged.
func dashToNil(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

// equalFoldASCII reports whether b equals s, ignoring ASCII case. s must be in lower case.
func equalFoldASCII(b []byte, s string) bool {
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

// parseSize returns a decimal number of bytes. For any other text, for example "-", it returns 0.
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

// parseStatus returns a status of three digits. For any other text it returns 0.
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
