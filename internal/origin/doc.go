// Package origin reads a robots.txt where it comes from: from the site itself by
// a virtual request, from a URL, or from a file.
package origin
