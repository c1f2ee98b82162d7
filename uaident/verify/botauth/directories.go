package botauth

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Directory is the state of an agent's key directory.
type Directory struct {
	Agent, Operator string
	// Keys is the number of usable keys.
	Keys int
	// Fetched is the time of the last successful fetch, and Expires the end of its freshness.
	// Both are zero before the first.
	Fetched, Expires time.Time
	// Next is the earliest time of the next fetch, or zero before the first fetch.
	Next time.Time
	// Err is the error of the last fetch, or nil.
	Err error
}

// Directories returns the state of every agent's directory, in order of agents.
func (v *Verifier) Directories() []Directory {
	list := make([]Directory, 0, len(v.agents))
	for _, a := range v.agents {
		entry := Directory{Agent: a.origin, Operator: a.operator}
		if d := a.directory.Load(); d != nil {
			entry.Keys, entry.Fetched, entry.Expires = len(d.keys), d.fetched, d.expires
		}
		a.mu.Lock()
		entry.Next, entry.Err = a.nextFetch, a.err
		a.mu.Unlock()
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b Directory) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

// agent returns an allowed agent by any spelling of its origin.
func (v *Verifier) agent(name string) (*agent, error) {
	if origin, ok := Origin(name); ok && v.agents[origin] != nil {
		return v.agents[origin], nil
	}
	return nil, fmt.Errorf("web bot auth agent %q is not allowed", name)
}
