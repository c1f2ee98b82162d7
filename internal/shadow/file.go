package shadow

import "github.com/robotsguard/caddy-robots-guard/policy"

// File is a robots.txt on trial: a configured file or URL, or the files of a change of a managed
// robots.txt. Its functions may be called concurrently.
type File struct {
	// Source identifies the file.
	Source string
	// Has reports whether the file is for a host. Each host then has its own file. A nil Has means one
	// file, for the requests of the guard that is configured with it.
	Has func(host string) bool
	// IsPublished reports whether a host already serves the change. It is nil for no host.
	IsPublished func(host string) bool
	// Fetch returns the file for a host. If the host already serves the change, Fetch returns the
	// previous file. Fetch may be slow.
	Fetch     func(host string) policy.FetchResult
	Freshness policy.Freshness
	OnFetched func(before, after policy.State) // may be nil
}
