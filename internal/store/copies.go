package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxCopies is the maximum number of hosts to read per instance.
const maxCopies = 2048

// copiesKind stores the robots.txt files that crawlers may be using, by host.
type copiesKind struct {
	store *Store
	tracker
}

// due returns the hosts with changed files. It also returns each host once per [copies.KeepInterval].
func (c *copiesKind) due(context.Context, bool) iter.Seq[pending] {
	book, now := c.store.memory.parts.Copies, c.store.now()
	return func(yield func(pending) bool) {
		hosts := book.Hosts()
		names := make(map[string]bool, len(hosts))
		for _, host := range hosts[:min(len(hosts), maxCopies)] {
			name := hostName(host)
			names[name] = true
			p, ok := c.tracker.due(change{
				name: name, about: zap.Stringer("site", host),
				at: revision{urgent: book.Revision(host), other: uint64(now.Unix()) / uint64(copies.KeepInterval/time.Second)},
				encode: func() (ledger.Document, bool, error) {
					d, empty, err := book.Encode(host, c.store.now())
					return ledger.Document(d), empty, err
				},
			}, now)
			if ok && !yield(p) {
				return
			}
		}
		c.forget(names)
	}
}

func (c *copiesKind) take(v value, _ *summary) error {
	stored, sum, err := copies.Decode(v.data)
	switch {
	case err != nil:
		return err
	case hostName(stored.Host) != v.key.name:
		return fmt.Errorf("the value is about %s, which has another key", stored.Host)
	case c.store.isExpired(stored.Saved):
		return errExpired
	}
	now := c.store.now()
	ahead := time.Duration(0)
	if !v.own {
		ahead = c.store.peers.noteClock(v.key, stored.Saved, now)
	}
	if v.own || !(policy.Key{Source: stored.Host.Source}).IsFile() { // other instances may have a different file at the same path
		c.store.memory.parts.Copies.Restore(stored, v.own, ahead, now)
	}
	if v.own {
		c.set(v.key.name, tracked{sum: sum, saved: stored.Saved})
	}
	return nil
}

// hostName returns the name of a host's value.
func hostName(h copies.Host) string {
	return hashName(fmt.Sprintf("%q %t %q %d %q", h.Source, h.Secure, h.Name, h.Port, h.ForwardedHost), suffixJSON)
}
