package botauth

import (
	"net/http"
)

// Request is what of a request may be signed.
type Request struct {
	// Method is the method, such as "GET".
	Method string
	// Scheme is "https" or "http", as the client used it.
	Scheme string
	// Authority is the Host field or :authority, with the port if there is one.
	Authority string
	// Target is the request target as it was sent, "/path?query" or an absolute
	// URL, before any rewrite.
	Target string
	// Header holds the fields by their canonical names, as net/http reads them.
	Header http.Header
}
