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

// counts stores the ledger by site. Reports add the counts of peers, but memory and storage separate
// them.
type counts struct {
	store     *Store
	retention time.Duration
	tracker

	own    []ledger.Stored // sites of this instance during a read
	others *ledger.Ledger  // sites of peers during a read
}

func ledgerName(site string) string { return hashName(site, suffixLedger) }

// due returns the sites with new counts, and at long intervals all others. Before the stored ledger
// was read it returns nothing, because a write would overwrite that ledger.
func (c *counts) due(context.Context, bool) iter.Seq[pending] {
	memory := c.store.memory
	return func(yield func(pending) bool) {
		memory.ledgerRead.Lock()
		done := memory.ledgerRead.done
		memory.ledgerRead.Unlock()
		if !done {
			return
		}
		snapshot := memory.parts.Ledger.Snapshot()
		for _, site := range snapshot.Sites {
			p, ok := c.tracker.due(change{
				name: ledgerName(site.Name), about: zap.String("site", site.Name), at: revision{urgent: latest(site), other: site.Noted()},
				encode: func() (d ledger.Document, empty bool, err error) {
					d.Saved = c.store.now()
					d.Data, err = ledger.Stored{Since: ledger.Time(snapshot.Since), Saved: d.Saved, Site: site}.Encode()
					d.Sum = sha256.Sum256(d.Data)
					return d, false, err
				},
			}, c.store.now())
			if ok && !yield(p) {
				return
			}
		}
	}
}

// latest returns the time of the last count.
func latest(site *ledger.Site) uint64 {
	last := int64(0)
	for _, row := range site.Rows {
		last = max(last, row.LastSeen)
		if row.Read != nil {
			last = max(last, row.Read.At)
		}
	}
	return uint64(last)
}

func (c *counts) take(v value, _ *summary) error {
	if v.old {
		return errExpired
	}
	stored, err := ledger.DecodeStored(v.data)
	switch {
	case err != nil:
		return err
	case ledgerName(stored.Site.Name) != v.key.name:
		return fmt.Errorf("the value is about %s, which has another key", stored.Site.Name)
	case v.own:
		c.own = append(c.own, stored)
	default:
		c.others.Restore(stored.Site, stored.Since)
	}
	return nil
}

// storedLedger lists the stored sites of an instance.
type storedLedger struct {
	values   []storedValue
	modified time.Time // latest time of its values
}

type storedValue struct {
	key      key
	size     int64
	modified time.Time
}

// read restores the ledger of this instance once per process, and reads the ledgers of peers.
func (c *counts) read(ctx context.Context) {
	found := newSummary()
	found.ofLedger = true
	defer func() {
		if ctx.Err() == nil {
			c.store.reportTrouble(found)
		}
	}()
	all := c.list(ctx, found)
	if found.failed > 0 {
		return
	}
	c.restore(ctx, all[c.store.instance], found)
	delete(all, c.store.instance)
	peers := make([]string, 0, len(all))
	for peer := range all {
		peers = append(peers, peer)
	}
	slices.SortFunc(peers, func(a, b string) int { return all[b].modified.Compare(all[a].modified) })
	c.others = ledger.New(c.store.now)
	c.others.Retain(c.retention)
	for _, peer := range peers[:min(len(peers), maxLedgers)] {
		c.readAll(ctx, all[peer].values, found)
	}
	if ctx.Err() == nil {
		c.store.memory.others.Store(c.others)
	}
	c.others = nil
}

// list returns the stored sites by instance, and removes expired values.
func (c *counts) list(ctx context.Context, found *summary) map[string]storedLedger {
	instances, err := c.store.instances(ctx)
	if err != nil {
		c.store.failedRead(key{kind: kindLedger}, err, found)
	}
	all := make(map[string]storedLedger)
	for _, instance := range instances {
		if all[instance] = c.listOf(ctx, instance, found); found.failed > 0 {
			return nil
		}
	}
	return all
}

// listOf lists the stored sites of one instance. It stops at the first failure.
func (c *counts) listOf(ctx context.Context, instance string, found *summary) (stored storedLedger) {
	keys, err := c.store.keys(ctx, instance, &c.store.ledger)
	if err != nil {
		c.store.failedRead(key{kind: kindLedger}, err, found)
	}
	for _, k := range keys {
		size, modified, err := c.store.stat(ctx, k)
		switch {
		case err != nil:
			c.store.failedRead(k, err, found)
		case c.store.isOld(modified):
			c.store.remove(ctx, k, newSummary()) // after an error the next look retries
		default:
			stored.values = append(stored.values, storedValue{k, size, modified})
			if modified.After(stored.modified) {
				stored.modified = modified
			}
		}
		if found.failed > 0 {
			break
		}
	}
	return stored
}

// readAll reads the listed values.
func (c *counts) readAll(ctx context.Context, values []storedValue, found *summary) {
	for _, v := range values {
		if ctx.Err() != nil {
			return
		}
		c.store.readStated(ctx, v.key, v.size, v.modified, found)
	}
}

// restore restores the ledger of this instance once per process. It restores all sites or none.
func (c *counts) restore(ctx context.Context, stored storedLedger, found *summary) {
	memory := c.store.memory
	memory.ledgerRead.Lock()
	defer memory.ledgerRead.Unlock()
	if memory.ledgerRead.done {
		return
	}
	defer func() { c.own = nil }()
	if c.readAll(ctx, stored.values, found); found.failed > 0 || ctx.Err() != nil {
		return
	}
	for _, stored := range c.own {
		memory.parts.Ledger.Restore(stored.Site, stored.Since)
	}
	memory.ledgerRead.done = true
	if len(c.own) > 0 {
		c.store.logger.Info("ledger restored from the storage", zap.Int("sites", len(c.own)))
	}
}
