// Package shadow knows what a robots.txt that is only tried would change if it were
// in force: for which crawlers, on which pages and by which lines.
//
// What it keeps is bounded, and never keyed by what a client can invent: sites are
// those of the configuration, and crawlers those that the registry or one of the two
// texts names. Search engines have places of their own, so that nobody pushes them
// out.
package shadow
