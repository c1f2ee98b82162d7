// Package simulate searches for counterexamples to the promise of the guard: a crawler
// that obeys robots.txt is never blocked, and a crawler that does not obey is blocked
// once the rules have applied for long enough. It runs the product's guard, policies,
// change guard, ledger and store on a simulated clock. A seed determines all events:
// owners edit, break, split and restore robots.txt files, crawlers obey or do not obey,
// configurations reload, processes crash, and storages fail. There may be several
// instances.
//
// If a world violates an invariant, the package removes as many of its events as
// possible and prints the remaining story. SIMULATE_WORLDS is the number of worlds, and
// SIMULATE_SEED is the first seed.
package simulate
