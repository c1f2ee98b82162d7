// Package expect reads tables of what a robots.txt is expected to say, and
// reports in the formats of test runners whether it does.
package expect
