package botauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Directory tells what is known of an agent's key directory.
type Directory struct {
	Agent, Operator string
	// Keys is how many usable keys it has.
	Keys int
	// Fetched is when it was read and Expires until when it is fresh; both zero
	// if it never was.
	Fetched, Expires time.Time
	// Next is before when it is not fetched; zero if it never was.
	Next time.Time
	// Err is why the last fetch failed, nil if it did not.
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
		entry.Next, entry.Err = a.next, a.err
		a.mu.Unlock()
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b Directory) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

// kept is a directory as Export writes it.
type kept struct {
	Agent     string          `json:"agent"`
	Fetched   time.Time       `json:"fetched"`
	Expires   time.Time       `json:"expires"`
	Directory json.RawMessage `json:"directory"`
}

// Export returns an agent's directory as bytes for [Verifier.Import], nil if
// there is none.
func (v *Verifier) Export(name string) ([]byte, error) {
	a, err := v.agent(name)
	if err != nil {
		return nil, err
	}
	d := a.directory.Load()
	if d == nil {
		return nil, nil
	}
	return json.Marshal(kept{Agent: a.origin, Fetched: d.fetched, Expires: d.expires, Directory: d.text})
}

// Import takes over what [Verifier.Export] of this or another instance returned,
// unless it is older than what is there. It trusts the bytes as far as the one
// who kept them is trusted, and fails if they are of no agent that is allowed,
// from the future, too old to be used, or broken.
func (v *Verifier) Import(data []byte) error {
	if len(data) > 2*MaxDirectory {
		return errors.New("kept directory: too large")
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return fmt.Errorf("kept directory: %w", err)
	}
	a, err := v.agent(k.Agent)
	if err != nil {
		return fmt.Errorf("kept directory: %w", err)
	}
	now := v.now()
	if latest := k.Fetched.Add(maxFresh); k.Expires.After(latest) {
		k.Expires = latest
	}
	if k.Fetched.After(now.Add(clockSkew)) || !now.Before(k.Expires.Add(maxStale)) {
		return fmt.Errorf("kept directory of %s: fetched at %s, in the future or too long ago", a.origin, k.Fetched)
	}
	keys, err := parseKeys(k.Directory, v.testKeys)
	if err != nil {
		return fmt.Errorf("kept directory of %s: %w", a.origin, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.directory.Load(); d == nil || d.fetched.Before(k.Fetched) {
		a.directory.Store(&directory{keys: keys, fetched: k.Fetched, expires: k.Expires, text: k.Directory})
	}
	return nil
}

// agent returns an allowed agent by any spelling of its origin.
func (v *Verifier) agent(name string) (*agent, error) {
	if origin, ok := Origin(name); ok && v.agents[origin] != nil {
		return v.agents[origin], nil
	}
	return nil, fmt.Errorf("web bot auth agent %q is not allowed", name)
}
