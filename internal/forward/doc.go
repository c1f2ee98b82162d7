// Package forward reads the request in question from a proxy's request to the guard. The proxy
// describes the request in header fields.
package forward
