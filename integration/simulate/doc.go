// Package simulate searches for the end of the promise: a crawler that keeps to the
// protocol is never blocked, and one that does not is let through no longer than the rules
// give it. It runs the guard of the product with its policies, readings, change guard,
// ledger and store on a simulated clock, from a seed: owners who edit, break, split and
// restore a robots.txt, crawlers that obey and such that do not, reloads, crashes, storages
// that fail, several instances.
//
// A world that breaks an invariant is made smaller until nothing can be left out of its
// story, and printed. SIMULATE_WORLDS is how many worlds are run, SIMULATE_SEED is the
// first seed.
package simulate
