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

// RequestOf returns what of r may be signed, for a handler that stands in front
// of everything that rewrites requests. The scheme is that of the connection.
func RequestOf(r *http.Request) Request {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return Request{Method: r.Method, Scheme: scheme, Authority: r.Host, Target: r.RequestURI, Header: r.Header}
}
