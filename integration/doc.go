// Package integration holds black-box tests: they build the server, run it with
// real origins and look at what comes out.
package integration
