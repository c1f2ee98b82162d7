// Package identity verifies whether the client of a request is the crawler that it claims to
// be. The results of verification survive reloads.
package identity
