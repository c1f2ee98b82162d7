// Package ledger remembers what crawlers did at which site, in bounded memory.
//
// A [Ledger] counts the requests of crawlers by site, crawler, class and
// identity. It is never keyed by what a client can invent: sites are those that
// the configuration names and crawlers those that the registry or a robots.txt
// names; all others share the name [Other]. What clients do invent, such as
// paths and User-Agents, is kept in sketches of fixed size, in fixed length.
package ledger
