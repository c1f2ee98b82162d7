package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// listsName is the one value with all lists.
const listsName = "ranges" + suffixJSON

var errListsTooLarge = errors.New("the lists of addresses are too long to be stored")

// lists are the lists of addresses of crawlers that were fetched.
type lists struct {
	store *Store
	tracker
}

func (*lists) name() string { return kindLists }
func (*lists) max() int64   { return maxLists }
func (*lists) most() int    { return 1 }

// maxLists bounds the lists, in bytes.
const maxLists = 1 << 20

func (l *lists) due(_ context.Context, last bool) iter.Seq[pending] {
	known := l.store.memory.parts.Lists
	at := revision{other: known.Fetched()}
	return func(yield func(pending) bool) {
		p, ok := l.tracker.due(change{
			name: listsName, about: zap.Skip(), at: at, wait: unlessLast(last, noteInterval),
			encode: func() (d ledger.Document, empty bool, err error) {
				d.Saved = l.store.now()
				if d.Data, err = known.Export(); err == nil && len(d.Data) > maxLists {
					err = errListsTooLarge
				}
				d.Sum = sha256.Sum256(d.Data)
				return d, at.other == 0, err
			},
		}, l.store.now())
		if ok {
			yield(p)
		}
	}
}

// take takes lists into use that are newer than what is known of them.
func (l *lists) take(v value, _ *summary) error {
	if v.old {
		return errExpired
	}
	if err := l.store.memory.parts.Lists.Import(v.data); err != nil {
		return err
	}
	if v.own {
		l.set(v.key.name, tracked{sum: sha256.Sum256(v.data), saved: v.modified})
	}
	return nil
}
