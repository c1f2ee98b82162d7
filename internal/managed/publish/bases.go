package publish

import (
	"crypto/sha256"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// BaseOfFile returns the last good version of a base file, or nil.
func BaseOfFile(bases *policy.Cache, path string) []byte {
	if e := bases.Get(policy.Key{Source: path}); e != nil {
		if v := goodOf(e.State()); v != nil {
			return []byte(v.Robots.Text())
		}
	}
	return nil
}

// goodOf returns the last good version of a base, or nil.
func goodOf(state *policy.State) *policy.Version {
	if state == nil {
		return nil
	}
	return state.Current
}

// BasesByHost returns a function that returns the base of a host. The function returns nil if the
// base was not fetched from the next handler. If several sites have the host, the function returns
// the newest base.
func BasesByHost(bases *policy.Cache) func(host string) []byte {
	known := make(map[string]*policy.Version)
	for _, e := range bases.Entries() {
		if e.Key().Source != "" {
			continue
		}
		v := goodOf(e.State())
		if v == nil {
			continue
		}
		host := nameOf(e.Key())
		if before := known[host]; before == nil || v.FirstFetched.After(before.FirstFetched) {
			known[host] = v
		}
	}
	texts := make(map[[sha256.Size]byte][]byte)
	return func(host string) []byte {
		v := known[host]
		if v == nil {
			return nil
		}
		if texts[v.Hash] == nil {
			texts[v.Hash] = []byte(v.Robots.Text())
		}
		return texts[v.Hash]
	}
}
