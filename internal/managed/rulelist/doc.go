// Package rulelist knows the lists of rules that a robots_txt reads beside its own
// configuration: their form, where they are, and which version of one is in use.
//
// A [List] is read again and again; all sites with the same file or URL share it. What
// cannot be used leaves what was good before in its place. A [Site] makes a schedule of
// the rules of its configuration and of its lists.
package rulelist
