// Package shadow records what a robots.txt on trial would change if it were in force: for which
// crawlers, on which pages and by which lines.
//
// Its memory is bounded, and no key can be invented by a client: sites are sites of the configuration, and
// crawlers are named by the registry or by one of the two files. Search engines have their own room, so
// that no other crawler displaces them.
package shadow
