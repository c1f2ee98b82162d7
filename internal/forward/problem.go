package forward

import (
	"fmt"
	"net/http"
)

// Reason is the kind of a [Problem].
type Reason uint8

// These mistakes come from a misconfigured proxy, or from a client that sent the same fields.
const (
	UntrustedProxy      Reason = iota // The proxy's address is not trusted.
	MissingField                      // A required field is missing.
	RepeatedField                     // A field occurs more than once.
	ContradictingFields               // Two fields contain different values.
	MalformedField                    // A field has an invalid value.

	numReasons = 5
)

// String returns the word for logs and labels.
func (r Reason) String() string {
	return [numReasons]string{"untrusted", "missing", "repeated", "contradicting", "malformed"}[r]
}

// AllReasons returns all reasons, in the order of their values.
func AllReasons() []Reason {
	return []Reason{UntrustedProxy, MissingField, RepeatedField, ContradictingFields, MalformedField}
}

// Problem is an error in a proxy's description of a request, see [DescribedRequest].
type Problem struct {
	Reason Reason
	Err    error // Err describes the problem and the remedy.
}

// Error implements error.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns the underlying error.
func (p *Problem) Unwrap() error { return p.Err }

// Status returns the status code of the response. A proxy passes its request on only after a 2xx.
// The status for an untrusted address is 500, since the configuration is wrong. If the proxy sent a
// 403 to search engines, they would treat the site as closed.
func (p *Problem) Status() int {
	if p.Reason == UntrustedProxy {
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func newProblem(reason Reason, format string, args ...any) *Problem {
	return &Problem{reason, fmt.Errorf(format, args...)}
}
