// Package harness runs the built server for the tests in the rooms beside it:
// it builds the binary, starts it on ports that nobody else has, and sends it
// what crawlers and browsers send.
//
// A room has a TestMain that calls [Main]. A test then starts servers by
// [Serve], which are stopped when it ends. What cannot be done ends the test.
package harness
