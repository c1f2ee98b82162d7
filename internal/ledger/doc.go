// Package ledger counts the requests of crawlers in bounded memory.
//
// A [Ledger] has a row for each site, crawler, class and identity. Sites are the sites of the
// configuration. Crawlers are names of the registry or of a robots.txt. All other sites and
// crawlers share the name [Other], so that clients cannot create rows. Paths, User-Agents and
// other strings from clients are kept in sketches of fixed size.
package ledger
