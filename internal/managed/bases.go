package managed

import (
	"crypto/sha256"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// BaseOfFile returns the version of a file that is under the rules, nil for none.
func BaseOfFile(bases *policy.Cache, k *Keeper, path string) []byte {
	key := policy.Key{Source: path}
	if e := bases.Get(key); e != nil {
		if v := k.peek(key, e.State()); v != nil {
			return []byte(v.Robots.Text())
		}
	}
	return nil
}

// BasesByHost returns what tells the base under the rules at a host, nil for nothing,
// of those that the handlers behind have answered. Of several sites with one host it is
// the one that was read last.
func BasesByHost(bases *policy.Cache, k *Keeper) func(host string) []byte {
	known := make(map[string]*policy.Version)
	for _, e := range bases.Entries() {
		if e.Key().Source != "" {
			continue
		}
		v := k.peek(e.Key(), e.State())
		if v == nil {
			continue
		}
		host := nameOf(e.Key())
		if before := known[host]; before == nil || v.FirstRead.After(before.FirstRead) {
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
