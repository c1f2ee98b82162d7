// Package readers remembers which texts of a robots.txt sites serve to crawlers
// beside the one that the guard reads.
package readers
