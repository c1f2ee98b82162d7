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

// maxCopyHosts is the maximum number of hosts to read per instance.
const maxCopyHosts = 2048

// copyValues stores the robots.txt files that crawlers may be using, by host.
type copyValues struct {
	store *Store
	tracker
}

// pendingWrites returns the hosts with changed files. It also returns each host once per [copies.SaveInterval].
func (c *copyValues) pendingWrites(context.Context, bool) iter.Seq[pendingWrite] {
	files, now := c.store.memory.parts.Copies, c.store.now()
	return func(yield func(pendingWrite) bool) {
		hosts := files.Hosts()
		names := make(map[string]bool, len(hosts))
		for _, host := range hosts[:min(len(hosts), maxCopyHosts)] {
			name := hostName(host)
			names[name] = true
			write, ok := c.tracker.pendingWrite(valueChange{
				name: name, logField: zap.Stringer("site", host),
				revision: revision{urgent: files.Revision(host), other: uint64(now.Unix()) / uint64(copies.SaveInterval/time.Second)},
				encode: func() (ledger.Document, bool, error) {
					d, empty, err := files.Encode(host, c.store.now())
					return ledger.Document(d), empty, err
				},
			}, now)
			if ok && !yield(write) {
				return
			}
		}
		c.dropUnneeded(names)
	}
}

func (c *copyValues) restoreValue(v value, _ *readSummary) error {
	stored, sum, err := copies.Decode(v.data)
	switch {
	case err != nil:
		return err
	case hostName(stored.Host) != v.key.name:
		return fmt.Errorf("the value belongs to %s, which has another key", stored.Host)
	case c.store.isExpired(stored.Saved):
		return errExpired
	}
	now := c.store.now()
	offset := time.Duration(0)
	if !v.isOwn {
		offset = c.store.peers.updateClock(v.key, stored.Saved, now)
	}
	if v.isOwn || !(policy.Key{Source: stored.Host.Source}).IsFile() { // other instances may have a different file at the same path
		c.store.memory.parts.Copies.Restore(stored, v.isOwn, offset, now)
	}
	if v.isOwn {
		c.set(v.key.name, writtenValue{hash: sum, saved: stored.Saved})
	}
	return nil
}

// hostName returns the name of a host's value.
func hostName(h copies.Host) string {
	return hashName(fmt.Sprintf("%q %t %q %d %q", h.Source, h.Secure, h.Name, h.Port, h.ForwardedHost), suffixJSON)
}
