// Package limit bounds how often something happens: a rate with a burst, without a lock,
// and the Retry-After of other servers.
package limit
