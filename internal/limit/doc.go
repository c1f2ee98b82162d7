// Package limit says how often something may happen: so often in the long run,
// and a few at once, without a lock.
package limit
