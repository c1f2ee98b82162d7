// Package integration holds black-box tests: they build the server, run it with
// real origins and look at what comes out. Each package below it is a room for
// one subject; what they share is in harness.
package integration
