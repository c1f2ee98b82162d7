package caddymodule

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// listsKey is where an instance stores the lists of crawler addresses that it
// has fetched.
func listsKey(instance string) storageKey { return storageKey{instance, dirLists, "ranges.json"} }

var errListsTooLarge = errors.New("the lists of addresses are too long to be stored")

// writeLists stores the lists of addresses if one was fetched since the last
// time.
func (s *store) writeLists(ctx context.Context, wait time.Duration) error {
	at := revision{noted: s.state.fetched.Load()}
	return s.writeNote(ctx, listsKey(s.instance), at, wait, func() (d ledger.Document, empty bool, err error) {
		d.Saved = s.now()
		if d.Data, err = s.state.verifier.Export(); err == nil && len(d.Data) > maxValue {
			err = errListsTooLarge
		}
		d.Sum = sha256.Sum256(d.Data)
		return d, at.noted == 0, err
	})
}

// takeLists takes lists of addresses into use that are newer than what is known
// of them.
func (s *store) takeLists(ctx context.Context, key storageKey, data []byte, modified time.Time, old bool, found *survey) {
	if old {
		s.remove(ctx, key, found)
		return
	}
	if err := s.state.verifier.Import(data); err != nil {
		s.setAside(ctx, key, data, err, old, found)
		return
	}
	sharedMetrics().storageRead(key.dir, readGood)
	if key.instance == s.instance {
		found.mu.Lock()
		defer found.mu.Unlock()
		s.notes.stored[key] = storedNote{sum: sha256.Sum256(data), saved: modified}
	}
}
