package shadow

import "github.com/robotsguard/caddy-robots-guard/policy"

// Candidate is a change of robots.txt files that is judged next to the files in force. Its functions may
// be called concurrently.
type Candidate struct {
	// Source identifies the change.
	Source string
	// Has reports whether the change includes a host. IsPublished reports whether the host already
	// serves the change; nil for no host.
	Has, IsPublished func(host string) bool
	// Text returns the file of the change for a host, or, if the host already serves the change, the
	// file before. It may be slow.
	Text func(host string) policy.Answer
}
