package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// kind is a kind of values: who has read what, say.
type kind interface {
	// name is its name and its directory.
	name() string
	// max bounds a value, in bytes.
	max() int64
	// most is how many values of an instance are read.
	most() int
	// due returns the values that should be written now, and all that say
	// something new if the process ends or the configuration does.
	due(ctx context.Context, last bool) iter.Seq[pending]
	// take takes a value into memory. What else can come of it are the errors
	// below; a value with any other one is set aside. It may be called by several
	// goroutines at once.
	take(v value, found *summary) error
}

// What comes of taking in a value that is not damaged.
var (
	errExpired    = errors.New("nobody has refreshed it for long")
	errIncomplete = errors.New("it is good, but is to be looked at again")
)

// isOutdated reports whether a value was written by an earlier version of this
// product, and is of no use any more.
func isOutdated(err error) bool {
	return errors.Is(err, policy.ErrOutdated) || errors.Is(err, ledger.ErrOutdated)
}

// value is one that was read.
type value struct {
	key      key
	own      bool // of this instance
	data     []byte
	modified time.Time // when it was written, as far as the storage knows
	old      bool      // nobody has refreshed it for long, as far as the storage knows
}

// pending is a value that is to be written.
type pending struct {
	name   string
	about  zap.Field              // for the log
	encode func() ([]byte, error) // nil if there is nothing to be written after all
	stored func()                 // is called when that was done
}
