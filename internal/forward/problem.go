package forward

import (
	"fmt"
	"net/http"
)

// Reason is why nothing can be said about a request.
type Reason uint8

// The reasons. A request that is not described as it has to be is the fault of the
// proxy's configuration, or of a client that sends the same fields.
const (
	Untrusted     Reason = iota // the address that asks is not one of a trusted proxy
	Missing                     // a field is not there
	Repeated                    // a field is there more than once
	Contradicting               // two fields do not say the same
	Malformed                   // a value is not one that its field can have

	reasons = 5
)

// String returns the word for logs and labels.
func (r Reason) String() string {
	return [reasons]string{"untrusted", "missing", "repeated", "contradicting", "malformed"}[r]
}

// Reasons returns all of them, in the order of their values.
func Reasons() []Reason { return []Reason{Untrusted, Missing, Repeated, Contradicting, Malformed} }

// Problem is what is wrong with a request that asks about another.
type Problem struct {
	Reason Reason
	Err    error // what it is, and what to do
}

// Error implements error.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns what is wrong.
func (p *Problem) Unwrap() error { return p.Err }

// Status returns what to answer. Proxies pass a request on after a 2xx only. To an
// address that is not trusted it is 500, since that is a fault of the configuration:
// by a 403 that the proxy passes on, search engines would take the site for closed.
func (p *Problem) Status() int {
	if p.Reason == Untrusted {
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func problem(reason Reason, format string, args ...any) *Problem {
	return &Problem{reason, fmt.Errorf(format, args...)}
}
