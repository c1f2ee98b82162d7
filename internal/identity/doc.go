// Package identity tells whether the client of a request is the crawler that it
// says it is, by what all configurations of a server share.
package identity
