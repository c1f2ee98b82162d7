// Package limit has a lock-free rate limiter with a burst, and parses the Retry-After of other
// servers.
package limit
