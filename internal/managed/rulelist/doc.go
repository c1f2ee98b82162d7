// Package rulelist reads the lists of rules for robots_txt from files and URLs.
//
// A [List] is read regularly. All sites with the same file or URL share the list. If a new version is
// invalid, the last good version stays in use. A [Site] makes a schedule of the rules in its
// configuration and in its lists.
package rulelist
