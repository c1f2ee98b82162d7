// Package site identifies the site of a request, and fetches its robots.txt: from the server of the
// site with a request of the guard's own, from a URL, or from a file.
package site
