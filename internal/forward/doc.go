// Package forward reads a client's request from the header fields in which a proxy describes this
// request to the guard.
package forward
