package policy

import "net/http"

// MaxRedirects is how many redirects from /robots.txt are followed (RFC 9309
// section 2.3.1.2). The file found in the end holds for the authority that was
// asked first.
const MaxRedirects = 5

// Answer is what came of one attempt to read a robots.txt, redirects followed.
type Answer struct {
	// Status is the HTTP status, 0 where no complete answer came. A redirect
	// status says that it could not be followed any further.
	Status int
	// Header is the header of the answer. It may be nil.
	Header http.Header
	// Body is the content, of which not more than MaxSize+1 bytes are needed.
	Body []byte
	// Err says why no complete answer came: a time-out, a reset, a name that
	// does not resolve, a body that ended early. Beside a status from 500 on it may
	// say why the server failed.
	Err error
	// Via is where redirects led on the way to the answer: of those to the site itself
	// the request target, of others the URL.
	Via []string
	// Of is the copy that was asked about, nil for none or for the current one. If the
	// meaning is Unchanged, it is this copy that still holds.
	Of *Version
}

// Meaning is what an answer says about the rules of a site.
type Meaning uint8

// The meanings, RFC 9309 section 2.3.1.
const (
	// Rules: the body holds the rules.
	Rules Meaning = iota
	// Unavailable: there is no robots.txt, nothing is restricted.
	Unavailable
	// Unreachable: nobody can know the rules.
	Unreachable
	// Refused: the server asks to come back later (429). RFC 9309 counts it as
	// unavailable, Google as unreachable.
	Refused
	// Unchanged: the copy that the question was about still holds (304).
	Unchanged
)

// String returns rules, unavailable, unreachable, refused or unchanged.
func (m Meaning) String() string {
	return [...]string{"rules", "unavailable", "unreachable", "refused", "unchanged"}[m]
}

// Known reports whether the answer settles what is restricted.
func (m Meaning) Known() bool { return m == Rules || m == Unavailable || m == Unchanged }

// Meaning tells what the answer says.
func (a Answer) Meaning() Meaning {
	switch {
	case a.Err != nil || a.Status < 200:
		return Unreachable
	case a.Status < 300:
		return Rules
	case a.Status == http.StatusNotModified:
		return Unchanged
	case a.Status == http.StatusTooManyRequests:
		return Refused
	case a.Status < 500:
		return Unavailable
	}
	return Unreachable
}

// text returns the text of the rules. The body of an answer that restricts
// nothing says nothing.
func (a Answer) text(meaning Meaning) []byte {
	if meaning != Rules {
		return nil
	}
	return a.Body
}
