// Package forward tests the guard as a decision point: what it answers other proxies, and each of those with the
// configuration in examples/forward.
package forward
