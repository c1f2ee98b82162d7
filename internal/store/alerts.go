package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// alertsName is the one value with all acknowledgements.
const alertsName = "acknowledged" + suffixJSON

// maxAcknowledged bounds the acknowledgements, in bytes.
const maxAcknowledged = 1 << 20

var errAcknowledgedTooLarge = errors.New("the acknowledgements are too long to be stored")

// alerts are what the owner knows of alerts.
type alerts struct {
	store *Store
	tracker
}

func (*alerts) name() string { return kindAlerts }
func (*alerts) max() int64   { return maxAcknowledged }
func (*alerts) most() int    { return 1 }

func (a *alerts) due(context.Context, bool) iter.Seq[pending] {
	known := a.store.memory.parts.Acknowledgements
	at := revision{urgent: known.Revision()}
	return func(yield func(pending) bool) {
		p, ok := a.tracker.due(change{
			name: alertsName, about: zap.Skip(), at: at,
			encode: func() (d ledger.Document, empty bool, err error) {
				d.Saved = a.store.now()
				if d.Data, err = known.Export(); err == nil && len(d.Data) > maxAcknowledged {
					err = errAcknowledgedTooLarge
				}
				d.Sum = sha256.Sum256(d.Data)
				return d, at.urgent == 0, err
			},
		}, a.store.now())
		if ok {
			yield(p)
		}
	}
}

// take takes over what is later than what is known.
func (a *alerts) take(v value, _ *summary) error {
	if v.old {
		return errExpired
	}
	if err := a.store.memory.parts.Acknowledgements.Import(v.data); err != nil {
		return err
	}
	if v.own {
		a.set(v.key.name, tracked{sum: sha256.Sum256(v.data), saved: v.modified})
	}
	return nil
}
