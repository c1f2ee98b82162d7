// Package forward tests the guard as a decision point: its responses to other proxies,
// and these proxies with the configurations in examples/forward.
package forward
