// Package integration holds black-box tests. They build the server, run it with real
// origins and check the responses. Each folder tests one subject. The package harness
// contains the common code.
package integration
