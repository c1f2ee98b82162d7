package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// maxSingle bounds the value of a kind that has one, in bytes.
const maxSingle = 1 << 20

// single is a kind with one value, which is all that a part of memory knows. What
// has never changed is not stored.
type single struct {
	store *Store
	tracker
	kindName, value string
	about           string // what it has, for an error
	at              func() revision
	wait            time.Duration // since the last write, but at the end
	known           interface {
		Export() ([]byte, error)
		Import(data []byte) error
	}
}

func (s *single) name() string { return s.kindName }
func (*single) max() int64     { return maxSingle }
func (*single) most() int      { return 1 }

func (s *single) due(_ context.Context, last bool) iter.Seq[pending] {
	at := s.at()
	return func(yield func(pending) bool) {
		p, ok := s.tracker.due(change{
			name: s.value, about: zap.Skip(), at: at, wait: unlessLast(last, s.wait),
			encode: func() (d ledger.Document, empty bool, err error) {
				d.Saved = s.store.now()
				if d.Data, err = s.known.Export(); err == nil && len(d.Data) > maxSingle {
					err = fmt.Errorf("%s are too long to be stored", s.about)
				}
				d.Sum = sha256.Sum256(d.Data)
				return d, at == revision{}, err
			},
		}, s.store.now())
		if ok {
			yield(p)
		}
	}
}

// take takes into use what is newer than what is known.
func (s *single) take(v value, _ *summary) error {
	if v.old {
		return errExpired
	}
	if err := s.known.Import(v.data); err != nil {
		return err
	}
	if v.own {
		s.set(v.key.name, tracked{sum: sha256.Sum256(v.data), saved: v.modified})
	}
	return nil
}
