// Package copies knows which robots.txt files a crawler may be using.
//
// A crawler may use a copy of a robots.txt for 24 hours (RFC 9309 section 2.4). So a file
// counts for a crawler if, within that time (the grace), it was the guard's own copy or was
// served to the crawler's product token. A request is held against a crawler only if every
// file that counts disallows it. Nothing that a client fetches removes a file.
package copies
