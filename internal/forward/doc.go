// Package forward reads which request a proxy asks about: one that it was sent, and
// describes in the header of a request of its own.
package forward
