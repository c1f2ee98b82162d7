package managed

import (
	"crypto/sha256"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// BasesByHost returns what tells what is known of the base at a host, nil for nothing,
// of the handlers behind. Of several sites with one host it is the one that was read
// last.
func BasesByHost(bases *policy.Cache) func(host string) []byte {
	known := make(map[string]*policy.Version)
	for _, e := range bases.Entries() {
		state := e.State()
		if e.Key().Source != "" || state == nil || state.Good == nil {
			continue
		}
		host := nameOf(e.Key())
		if before := known[host]; before == nil || state.Good.FirstRead.After(before.FirstRead) {
			known[host] = state.Good
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
