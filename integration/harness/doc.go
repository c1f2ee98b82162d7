// Package harness runs the built server for the tests in the other folders of
// integration. It builds the binary, starts it on free ports and sends requests as
// crawlers and browsers do.
//
// A test package has a TestMain that calls [Main]. A test starts servers with [Serve],
// which stops them at the end of the test. Functions with a testing.TB fail the test if
// an error occurs.
package harness
