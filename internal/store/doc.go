// Package store stores the state that survives a restart or is shared by instances, in the storage
// of Caddy.
//
//	robots_guard/v1/<instance>/policies/<hash of the site>.json
//	robots_guard/v1/<instance>/policies/base-<hash of the site>.json
//	robots_guard/v1/<instance>/copies/<hash of the host>.json
//	robots_guard/v1/<instance>/changes/<hash of the site>.json
//	robots_guard/v1/<instance>/notes/acknowledged.json, sent.json, ranges.json, rates.json
//	robots_guard/v1/<instance>/ledger/<hash of the site>.ledger
//	robots_guard/v1/<instance>/set_aside/<kind>-<name of the value>
//
// Each instance writes its own keys, so instances do not wait for each other. An instance reads the
// keys of all instances. Requests do not wait for the storage, except for the first read.
//
// The method newKinds returns a table of the kinds of values. A row defines the encoding, the times
// of writes and the restoration of values. The ledger is not in the table, because it is large and
// is therefore written and read separately.
package store
