package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

const (
	// maxLedgers is the maximum number of peers whose ledgers are read. The peers that wrote last
	// are read.
	maxLedgers = 8

	// maxLedgerSites is the maximum number of values of the kind "ledger" to read per instance. A
	// ledger has fewer sites.
	maxLedgerSites = 4096
)

// ledgerValues has the values of the kind "ledger", one for each site. Each instance stores its own
// counts. Reports add the counts of the peers.
type ledgerValues struct {
	trackedValues
	retention time.Duration

	mu         sync.Mutex          // This mutex guards the following fields during a read.
	ownSites   []ledger.StoredSite // ownSites are the sites of this instance.
	peerLedger *ledger.Ledger      // peerLedger has the sites of peers.
}

func newLedgerValues(s *Store, retention time.Duration) *ledgerValues {
	c := &ledgerValues{retention: retention}
	c.trackedValues = trackedValues{store: s, changes: c.siteChanges, restore: c.restoreSite}
	return c
}

func ledgerValueName(site string) string { return hashName(site, suffixLedger) }

// siteChanges returns all sites in the ledger. Before the stored ledger was read it returns none,
// because a write would overwrite the stored counts.
func (c *ledgerValues) siteChanges(bool) iter.Seq[valueChange] {
	memory := c.store.memory
	return func(yield func(valueChange) bool) {
		memory.ownLedgerRead.Lock()
		done := memory.ownLedgerRead.done
		memory.ownLedgerRead.Unlock()
		if !done {
			return
		}
		snapshot := memory.parts.Ledger.Snapshot()
		for _, site := range snapshot.Sites {
			change := valueChange{
				name: ledgerValueName(site.Name), logField: zap.String("site", site.Name), revision: revision{urgent: lastCountTime(site), other: site.Revision()},
				encode: func() (d ledger.StoredDocument, empty bool, err error) {
					d.Saved = c.store.now()
					d.Data, err = ledger.StoredSite{Since: ledger.FromUnixMilli(snapshot.Since), Saved: d.Saved, Site: site}.Encode()
					d.Checksum = sha256.Sum256(d.Data)
					return d, false, err
				},
			}
			if !yield(change) {
				return
			}
		}
	}
}

// lastCountTime returns the time of the last counted request for a site, in Unix milliseconds.
func lastCountTime(site *ledger.Site) uint64 {
	last := int64(0)
	for _, row := range site.Rows {
		last = max(last, row.LastSeen)
		if row.RobotsFetch != nil {
			last = max(last, row.RobotsFetch.At)
		}
	}
	return uint64(last)
}

func (c *ledgerValues) restoreSite(v value, _ *readSummary) (written writtenValue, err error) {
	if v.isExpired {
		return written, errExpired
	}
	stored, err := ledger.DecodeStoredSite(v.data)
	if err == nil && ledgerValueName(stored.Site.Name) != v.key.name {
		err = fmt.Errorf("the value belongs to %s, which has another key", stored.Site.Name)
	}
	if err != nil {
		return written, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.isOwn {
		c.ownSites = append(c.ownSites, stored)
	} else {
		c.peerLedger.RestoreSite(stored.Site, stored.Since)
	}
	return written, nil
}

// readLedgers reads the stored ledgers of the maxLedgers peers that wrote last and, once per
// process, of this instance. From all other ledgers, readLedgers only removes
// expired values.
func (c *ledgerValues) readLedgers(ctx context.Context) {
	s, summary := c.store, newReadSummary(&c.store.ledgerReadFailed)
	c.restoreOwn(ctx, summary)
	c.peerLedger = ledger.New(s.now)
	c.peerLedger.SetRetention(c.retention)
	instances, err := s.listInstances(ctx)
	if err != nil {
		s.recordReadFailure(key{kind: kindLedger}, err, summary)
	}
	for i, peer := range s.peers.sortByLastWrite(instances, s.instance) {
		if i < maxLedgers {
			c.readInstance(ctx, peer, nil, summary)
		} else {
			c.readInstance(ctx, peer, c.isFresh, summary)
		}
	}
	if ctx.Err() == nil {
		if err == nil { // A single value can be unreadable for a long time.
			s.memory.peerLedger.Store(c.peerLedger)
		}
		s.logReadFailures(summary)
	}
}

// readInstance reads the stored ledger of an instance. readInstance skips the values for which skip
// returns true.
func (c *ledgerValues) readInstance(ctx context.Context, instance string, skip func(k key, modified time.Time) bool, summary *readSummary) {
	keys, err := c.store.listKind(ctx, instance, &c.store.ledgerKind)
	if err != nil {
		c.store.recordReadFailure(key{instance: instance, kind: kindLedger}, err, summary)
	}
	c.store.readAll(ctx, keys, skip, summary)
}

// isFresh reports whether a value has not expired. Values that are not skipped are read, which
// removes expired values.
func (c *ledgerValues) isFresh(_ key, modified time.Time) bool { return !c.store.isExpired(modified) }

// restoreOwn restores the stored ledger of this instance once per process. If a site cannot be
// read, it restores none and tries again at the next call.
func (c *ledgerValues) restoreOwn(ctx context.Context, summary *readSummary) {
	memory := c.store.memory
	memory.ownLedgerRead.Lock()
	defer memory.ownLedgerRead.Unlock()
	if memory.ownLedgerRead.done {
		c.readInstance(ctx, c.store.instance, c.isFresh, summary)
		return
	}
	c.ownSites = nil
	if c.readInstance(ctx, c.store.instance, nil, summary); summary.failedReads > 0 || ctx.Err() != nil {
		return
	}
	for _, stored := range c.ownSites {
		memory.parts.Ledger.RestoreSite(stored.Site, stored.Since)
	}
	memory.ownLedgerRead.done = true
	if len(c.ownSites) > 0 {
		c.store.logger.Info("ledger restored from the storage", zap.Int("sites", len(c.ownSites)))
	}
	c.ownSites = nil
}
