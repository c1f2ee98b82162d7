// Package store keeps what outlives a restart: one store of several kinds of
// values in a storage that instances may share.
//
//	robots_guard/v1/<instance>/policies/<hash of the site>.json
//	robots_guard/v1/<instance>/bases/<hash of the site>.json
//	robots_guard/v1/<instance>/readers/<part>.json
//	robots_guard/v1/<instance>/changes/<hash of the site>.json
//	robots_guard/v1/<instance>/lists/ranges.json
//	robots_guard/v1/<instance>/alerts/acknowledged.json
//	robots_guard/v1/<instance>/rates/counts.json
//	robots_guard/v1/<instance>/ledger/<hash of the site>.ledger
//	robots_guard/v1/<instance>/set_aside/<kind>-<name of the value>
//
// Each instance writes keys of its own, so none has to wait for another, and
// reads those of all. Nothing here is on the way of a request: the store compares
// what is known with what it knows to be stored.
//
// A kind is a file: what its values are named, how they are written, when that is
// due, and what taking one in does. Everything else is the same for all of them.
package store
