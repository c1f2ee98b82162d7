// Package parity knows what crawlers really get: which answers of a site belie its
// robots.txt, and which visits the operators of crawlers bring back.
//
// A site that allows a page in its robots.txt and answers 403 for it has said two
// things. [Find] says where that happens often enough to be told.
package parity
