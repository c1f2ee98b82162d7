package botauth

import (
	"net/http"
)

// Request contains the parts of a request that a signature can cover.
type Request struct {
	// Method is the request method, such as "GET".
	Method string
	// Scheme is the client's scheme, "https" or "http".
	Scheme string
	// Authority is the Host field or :authority, with the port if present.
	Authority string
	// Target is the original request target before rewrites: "/path?query" or an absolute
	// URL.
	Target string
	// Header contains the header fields by canonical name.
	Header http.Header
}
