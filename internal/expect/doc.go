// Package expect reads tables of expectations about a robots.txt, and reports the results in the
// formats of test runners.
package expect
