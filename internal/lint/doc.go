// Package lint tells the owner of a robots.txt what crawlers make of it.
//
// Package policy reports what its parser notices. This package adds what is
// known about the crawlers themselves: which names nobody goes by, which lines
// nobody reads, which rules can never decide anything, and how Googlebot,
// Bingbot, Yandex, GPTBot and a crawler that knows nothing but RFC 9309 each
// read the file.
package lint
