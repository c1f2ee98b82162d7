package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

const (
	// maxLedgers is the maximum number of peers whose ledgers are read. The most recent peers come
	// first.
	maxLedgers = 8

	// maxLedgerSites is the maximum number of sites to read per instance. A ledger has fewer sites.
	maxLedgerSites = 4096
)

// ledgerValues stores the ledger by site. Reports add the counts of peers, but memory and storage separate
// them.
type ledgerValues struct {
	store     *Store
	retention time.Duration
	tracker

	ownSites   []ledger.StoredSite // sites of this instance during a read
	peerLedger *ledger.Ledger      // sites of peers during a read
}

func ledgerName(site string) string { return hashName(site, suffixLedger) }

// pendingWrites returns the sites with new counts, and at long intervals all others. Before the stored ledger
// was read it returns nothing, because a write would overwrite that ledger.
func (c *ledgerValues) pendingWrites(context.Context, bool) iter.Seq[pendingWrite] {
	memory := c.store.memory
	return func(yield func(pendingWrite) bool) {
		memory.ownLedgerRead.Lock()
		done := memory.ownLedgerRead.done
		memory.ownLedgerRead.Unlock()
		if !done {
			return
		}
		snapshot := memory.parts.Ledger.Snapshot()
		for _, site := range snapshot.Sites {
			write, ok := c.tracker.pendingWrite(valueChange{
				name: ledgerName(site.Name), logField: zap.String("site", site.Name), revision: revision{urgent: lastCountTime(site), other: site.Noted()},
				encode: func() (d ledger.Document, empty bool, err error) {
					d.Saved = c.store.now()
					d.Data, err = ledger.StoredSite{Since: ledger.Time(snapshot.Since), Saved: d.Saved, Site: site}.Encode()
					d.Sum = sha256.Sum256(d.Data)
					return d, false, err
				},
			}, c.store.now())
			if ok && !yield(write) {
				return
			}
		}
	}
}

// lastCountTime returns the time of the last count.
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

func (c *ledgerValues) restoreValue(v value, _ *readSummary) error {
	if v.unrefreshed {
		return errExpired
	}
	stored, err := ledger.DecodeStoredSite(v.data)
	switch {
	case err != nil:
		return err
	case ledgerName(stored.Site.Name) != v.key.name:
		return fmt.Errorf("the value belongs to %s, which has another key", stored.Site.Name)
	case v.isOwn:
		c.ownSites = append(c.ownSites, stored)
	default:
		c.peerLedger.Restore(stored.Site, stored.Since)
	}
	return nil
}

// storedLedger lists the stored sites of an instance.
type storedLedger struct {
	values   []listedValue
	modified time.Time // latest time of its values
}

type listedValue struct {
	key      key
	size     int64
	modified time.Time
}

// readLedgers restores the ledger of this instance once per process, and reads the ledgers of peers.
func (c *ledgerValues) readLedgers(ctx context.Context) {
	summary := newReadSummary()
	summary.isLedger = true
	defer func() {
		if ctx.Err() == nil {
			c.store.logReadFailures(summary)
		}
	}()
	ledgers := c.listLedgers(ctx, summary)
	if summary.failedReads > 0 {
		return
	}
	c.restoreOwn(ctx, ledgers[c.store.instance], summary)
	delete(ledgers, c.store.instance)
	peers := make([]string, 0, len(ledgers))
	for peer := range ledgers {
		peers = append(peers, peer)
	}
	slices.SortFunc(peers, func(a, b string) int { return ledgers[b].modified.Compare(ledgers[a].modified) })
	c.peerLedger = ledger.New(c.store.now)
	c.peerLedger.Retain(c.retention)
	for _, peer := range peers[:min(len(peers), maxLedgers)] {
		c.readValues(ctx, ledgers[peer].values, summary)
	}
	if ctx.Err() == nil {
		c.store.memory.peerLedger.Store(c.peerLedger)
	}
	c.peerLedger = nil
}

// listLedgers returns the stored sites by instance, and removes expired values.
func (c *ledgerValues) listLedgers(ctx context.Context, summary *readSummary) map[string]storedLedger {
	instances, err := c.store.listInstances(ctx)
	if err != nil {
		c.store.recordReadFailure(key{kind: kindLedger}, err, summary)
	}
	ledgers := make(map[string]storedLedger)
	for _, instance := range instances {
		if ledgers[instance] = c.listInstance(ctx, instance, summary); summary.failedReads > 0 {
			return nil
		}
	}
	return ledgers
}

// listInstance lists the stored sites of one instance. It stops at the first failure.
func (c *ledgerValues) listInstance(ctx context.Context, instance string, summary *readSummary) (stored storedLedger) {
	keys, err := c.store.listKind(ctx, instance, &c.store.ledgerKind)
	if err != nil {
		c.store.recordReadFailure(key{kind: kindLedger}, err, summary)
	}
	for _, k := range keys {
		size, modified, err := c.store.stat(ctx, k)
		switch {
		case err != nil:
			c.store.recordReadFailure(k, err, summary)
		case c.store.isUnrefreshed(modified):
			c.store.remove(ctx, k, newReadSummary()) // after an error the next read retries
		default:
			stored.values = append(stored.values, listedValue{k, size, modified})
			if modified.After(stored.modified) {
				stored.modified = modified
			}
		}
		if summary.failedReads > 0 {
			break
		}
	}
	return stored
}

// readValues reads the listed values.
func (c *ledgerValues) readValues(ctx context.Context, values []listedValue, summary *readSummary) {
	for _, v := range values {
		if ctx.Err() != nil {
			return
		}
		c.store.readValue(ctx, v.key, v.size, v.modified, summary)
	}
}

// restoreOwn restores the ledger of this instance once per process. It restores all sites or none.
func (c *ledgerValues) restoreOwn(ctx context.Context, stored storedLedger, summary *readSummary) {
	memory := c.store.memory
	memory.ownLedgerRead.Lock()
	defer memory.ownLedgerRead.Unlock()
	if memory.ownLedgerRead.done {
		return
	}
	defer func() { c.ownSites = nil }()
	if c.readValues(ctx, stored.values, summary); summary.failedReads > 0 || ctx.Err() != nil {
		return
	}
	for _, stored := range c.ownSites {
		memory.parts.Ledger.Restore(stored.Site, stored.Since)
	}
	memory.ownLedgerRead.done = true
	if len(c.ownSites) > 0 {
		c.store.logger.Info("ledger restored from the storage", zap.Int("sites", len(c.ownSites)))
	}
}
