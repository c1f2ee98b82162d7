// Package store keeps the state that outlives a restart or is shared by instances, in the storage of
// Caddy.
//
//	robots_guard/v1/<instance>/policies/<hash of the site>.json
//	robots_guard/v1/<instance>/policies/base-<hash of the site>.json
//	robots_guard/v1/<instance>/copies/<hash of the host>.json
//	robots_guard/v1/<instance>/readers/<part>.json
//	robots_guard/v1/<instance>/changes/<hash of the site>.json
//	robots_guard/v1/<instance>/notes/acknowledged.json, ranges.json, rates.json
//	robots_guard/v1/<instance>/ledger/<hash of the site>.ledger
//	robots_guard/v1/<instance>/set_aside/<kind>-<name of the value>
//
// Each instance writes keys of its own, so no instance waits for another, and reads the keys of all
// instances. No request waits for the storage, except for the first read.
//
// The kinds of values are a table, see [Kinds]. A row says how its values are encoded, when they are
// written, and how they are restored. All other code is the same for every kind.
package store
