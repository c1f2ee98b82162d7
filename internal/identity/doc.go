// Package identity verifies the claimed identity of a request's client. The results of verification
// survive reloads.
package identity
