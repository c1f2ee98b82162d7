package shadow

import "github.com/robotsguard/caddy-robots-guard/policy"

// Candidate is a change of robots.txt files that is judged next to those in force. Its
// functions may be called by any goroutine.
type Candidate struct {
	// Source tells it from others.
	Source string
	// Has reports whether the change includes a host. IsPublished reports whether the host is
	// served the change already; nil for no host.
	Has, IsPublished func(host string) bool
	// Text returns what it would make for a host now, or where that is served it what
	// was served before. It may take a while.
	Text func(host string) policy.Answer
}
