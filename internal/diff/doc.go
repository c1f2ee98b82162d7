// Package diff reports the effects of an edit of a robots.txt on crawlers and URLs. It derives
// example URLs from the rules and compares their verdicts in both files, so every example is a real
// change. A change without an example may still be possible.
package diff
