// Package forward reads the request that a proxy asks the guard about. The proxy describes that
// request in header fields of its own request.
package forward
