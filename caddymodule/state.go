package caddymodule

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// state is what survives a reload of the configuration. It holds nothing of a
// configuration, and stays usable after the last handler has released it:
// requests may still be under way.
type state struct {
	cache      *policy.Cache
	readers    *ledger.Readers
	labels     *labels
	violations *violations
	changes    changes
	served     served
	ledger     *ledger.Ledger
	others     atomic.Pointer[ledger.Ledger] // what other instances have stored
	taken      ledgerTaken
	presences  presences
	eventTimes eventTimes
	retentions claims[time.Duration]

	sizes claims[sizes]

	verifier   *verify.Verifier
	verifying  claims[verify.Config]
	refreshing chan struct{}                           // full while the lists of addresses are kept up to date
	fetched    atomic.Uint64                           // lists that were read
	listed     atomic.Pointer[func(verify.ListStatus)] // told when one was read, nil for nobody
	writing    sync.Mutex                              // held while a policy goes to the storage, so that the last one written is the last one known

	wanted   chan policy.Key                 // sites of which it is asked what is stored
	cold     atomic.Bool                     // the server starts, and may know some of what is stored and not all
	restored atomic.Pointer[<-chan struct{}] // closed once it is known what is stored; nil without a storage

	sources standaloneSources
}

func (s *state) onList(status verify.ListStatus) {
	if status.Err == nil {
		s.fetched.Add(1)
	}
	if told := s.listed.Load(); told != nil {
		(*told)(status)
	}
}

// Destruct implements caddy.Destructor. What is known of addresses can still be
// asked for.
func (s *state) Destruct() error {
	s.verifier.Close()
	currentState.Store(nil)
	return nil
}

var (
	statePool    = caddy.NewUsagePool()
	currentState atomic.Pointer[state] // for metrics, which outlive any state
)

const stateKey = "robots_guard"

// Bounds of the cache. Hosts that only clients name get less, so that inventing
// them costs their inventor more than the server.
var (
	namedBounds    = policy.Bounds{Entries: 10_000, Bytes: 256 << 20, Reads: 64}
	inventedBounds = policy.Bounds{Entries: 1_000, Bytes: 32 << 20, Reads: 8}
)

// Bounds of whose readings of a robots.txt are remembered; one takes about 300
// bytes.
const (
	maxReadersInPart   = 4096
	maxReadersInvented = 4096
)

// acquireState returns the shared state, making it for the first guard. It is
// released when the configuration ends, also one that failed to load.
func acquireState(ctx caddy.Context) (*state, error) {
	value, _, err := statePool.LoadOrNew(stateKey, func() (caddy.Destructor, error) {
		s := &state{
			cache:      policy.NewCache(namedBounds, inventedBounds, time.Now, deriveNames),
			readers:    ledger.NewReaders(maxReadersInPart, maxReadersInvented),
			labels:     sharedMetrics().labels,
			violations: newViolations(),
			wanted:     make(chan policy.Key, maxWanted),
			refreshing: make(chan struct{}, 1),
			ledger:     ledger.New(time.Now),
		}
		s.verifier = verify.New(verify.Options{UserAgent: guardUserAgent, OnList: s.onList})
		currentState.Store(s)
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = statePool.Delete(stateKey) }) // Destruct returns no error
	return value.(*state), nil
}
