package store

import (
	"crypto/sha256"
	"maps"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// tracker records the stored values of a kind of this instance, by name. The zero value is empty.
type tracker struct {
	mu     sync.Mutex
	stored map[string]tracked
}

// tracked describes a stored value.
type tracked struct {
	sum   [sha256.Size]byte
	saved time.Time
	at    revision
}

// revision identifies the content of a value.
type revision struct{ urgent, other uint64 }

func (t *tracker) get(name string) tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stored[name]
}

func (t *tracker) set(name string, value tracked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stored == nil {
		t.stored = make(map[string]tracked)
	}
	t.stored[name] = value
}

// forget drops the records of unneeded values if there are many.
func (t *tracker) forget(needed map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.stored) > 2*len(needed)+100 {
		maps.DeleteFunc(t.stored, func(name string, _ tracked) bool { return !needed[name] })
	}
}

// change describes a value that may have unsaved changes.
type change struct {
	name   string
	about  zap.Field
	at     revision
	wait   time.Duration // minimum time since the last write
	encode func() (d ledger.Document, empty bool, err error)
}

// due returns how to write a value. It returns false if the value is unchanged or was written too
// recently.
func (t *tracker) due(c change, now time.Time) (p pending, ok bool) {
	known := t.get(c.name)
	first, age := known.saved.IsZero(), now.Sub(known.saved)
	if age < 0 {
		age = renewInterval // a wrong clock wrote the value
	}
	renew := !first && age >= renewInterval
	if c.at == known.at && !renew || !first && age < c.wait {
		return pending{}, false
	}
	var d ledger.Document
	return pending{
		name:  c.name,
		about: c.about,
		encode: func() (data []byte, err error) {
			var empty bool
			d, empty, err = c.encode()
			switch {
			case err != nil:
				return nil, err
			case d.Sum == known.sum && !renew, empty && first:
				known.at = c.at
				t.set(c.name, known)
				return nil, nil
			case empty && renew:
				return nil, nil // the value expires
			}
			return d.Data, nil
		},
		stored: func() { t.set(c.name, tracked{sum: d.Sum, saved: d.Saved, at: c.at}) },
	}, true
}
