// Package origin fetches robots.txt files: from the site itself with a virtual request, from a URL,
// or from a file.
package origin
