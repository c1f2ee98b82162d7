package botauth

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// DirectoryStatus is the state of an agent's key directory.
type DirectoryStatus struct {
	Agent, Operator string
	// KeyCount is the number of usable Ed25519 keys in the directory.
	KeyCount int
	// Fetched is the time of the last successful fetch, and Expires is the end of the fetched
	// directory's freshness. Both are zero before the first successful fetch.
	Fetched, Expires time.Time
	// NextFetch is the earliest time of the next fetch, or zero before the first fetch.
	NextFetch time.Time
	// Err is the error of the last fetch, or nil.
	Err error
}

// Directories returns the state of every allowed agent's key directory, sorted by agent.
func (v *Verifier) Directories() []DirectoryStatus {
	list := make([]DirectoryStatus, 0, len(v.agents))
	for _, a := range v.agents {
		entry := DirectoryStatus{Agent: a.origin, Operator: a.operator}
		if d := a.directory.Load(); d != nil {
			entry.KeyCount, entry.Fetched, entry.Expires = len(d.keys), d.fetched, d.expires
		}
		a.mu.Lock()
		entry.NextFetch, entry.Err = a.nextFetch, a.err
		a.mu.Unlock()
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b DirectoryStatus) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

// findAgent returns the allowed agent with the given name, in any form that [NormalizeOrigin]
// accepts.
func (v *Verifier) findAgent(name string) (*signingAgent, error) {
	if origin, ok := NormalizeOrigin(name); ok && v.agents[origin] != nil {
		return v.agents[origin], nil
	}
	return nil, fmt.Errorf("web bot auth agent %q is not allowed", name)
}
