package store

import (
	"context"
	"crypto/sha256"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

const (
	// ratesName is the one value with all counts of an instance.
	ratesName = "counts" + suffixJSON

	// deadAfter is when counts go that nobody has written again, whoever's they are:
	// they are of use for a minute.
	deadAfter = 25 * time.Hour
)

// rates is how often this instance was asked by each crawler, so that several hold a
// crawler to what it may ask of them together. It is written while there are others.
type rates struct {
	store *Store
	tracker
}

func (*rates) name() string { return kindRates }
func (*rates) max() int64   { return maxSingle }
func (*rates) most() int    { return 1 }

func (r *rates) due(_ context.Context, last bool) iter.Seq[pending] {
	known, now := r.store.memory.parts.Rates, r.store.now()
	others := len(r.store.peers.active(now)) > 0
	known.Share(now, others)
	return func(yield func(pending) bool) {
		if !others || last {
			return
		}
		p, ok := r.tracker.due(change{
			name: ratesName, about: zap.Skip(), at: revision{other: uint64(now.UnixNano())}, wait: syncInterval,
			encode: func() (d ledger.Document, empty bool, err error) {
				d.Saved = now
				d.Data, err = known.Export(now)
				d.Sum = sha256.Sum256(d.Data)
				return d, d.Data == nil, err
			},
		}, now)
		if ok {
			yield(p)
		}
	}
}

// take takes in what another instance has counted.
func (r *rates) take(v value, _ *summary) error {
	now := r.store.now()
	switch {
	case v.old, !v.modified.IsZero() && now.Sub(v.modified) > deadAfter:
		return errExpired
	case v.own:
		return nil
	}
	return r.store.memory.parts.Rates.Import(v.key.instance, v.data, now)
}
