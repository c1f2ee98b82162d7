// Package site identifies the site of a request, and fetches its robots.txt: from the site itself
// with a virtual request, from a URL, or from a file.
package site
