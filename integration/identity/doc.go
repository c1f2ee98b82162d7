// Package identity tests the verification of crawlers by address lists, DNS and
// signatures.
package identity
