package caddymodule

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

const (
	// ledgerInterval is the time between two writings of the ledger, and
	// between two readings of those of other instances.
	ledgerInterval = 5 * time.Minute

	// maxLedgerInstances is of how many other instances the ledger is read,
	// those that have written last.
	maxLedgerInstances = 8
)

// The directories of an instance in the storage, and the suffix of a site of
// the ledger. A reader of policies takes no notice of these.
const (
	dirLedger    = "ledger"
	ledgerSuffix = ".ledger"
)

// ledgerStore keeps the ledger in the storage, one value for each site:
//
//	robots_guard/v1/<instance>/ledger/<hash of the site>.ledger
//	robots_guard/v1/<instance>/set_aside/<hash of the site>.ledger
//
// Each instance writes its own and reads those of the others, which are shown
// together with it. Nothing here is on the way of a request.
type ledgerStore struct {
	storage  storage
	stat     func(ctx context.Context, key string) (size int64, modified time.Time, err error)
	instance string
	state    *state
	logger   *zap.Logger
	now      func() time.Time
	retain   time.Duration

	written map[string]writtenLedger // by site
	failing bool
	done    chan struct{}
}

// writtenLedger is what is known to be stored of a site.
type writtenLedger struct {
	last  int64 // when the last request was
	saved time.Time
}

// ledgerTaken says whether the ledger of this process holds what was stored before
// it began: until then nothing may be written in its place.
type ledgerTaken struct {
	mu   sync.Mutex
	done bool
}

func newLedgerStore(ctx caddy.Context, instance string, state *state, retain time.Duration, logger *zap.Logger) *ledgerStore {
	shared := ctx.Storage()
	return &ledgerStore{
		storage: shared,
		stat: func(ctx context.Context, key string) (int64, time.Time, error) {
			info, err := shared.Stat(ctx, key)
			return info.Size, info.Modified, err
		},
		instance: instance,
		state:    state,
		logger:   logger,
		now:      time.Now,
		retain:   retain,
		written:  make(map[string]writtenLedger),
		done:     make(chan struct{}),
	}
}

// start keeps the ledger until ctx ends; done is closed when it is written for
// the last time then.
func (s *ledgerStore) start(ctx context.Context) {
	go func() {
		defer close(s.done)
		s.read(ctx)
		ticker := time.NewTicker(ledgerInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.write(ctx)
				s.read(ctx)
			case <-ctx.Done():
				last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
				defer cancel()
				s.write(last)
				return
			}
		}
	}()
}

// ledgerKey is a key of a site of the ledger.
type ledgerKey struct{ instance, dir, name string }

func (k ledgerKey) String() string {
	return strings.Join([]string{storageRoot, k.instance, k.dir, k.name}, "/")
}

// ledgerKeyOf returns where an instance keeps a site.
func ledgerKeyOf(instance, site string) ledgerKey {
	return ledgerKey{instance, dirLedger, fmt.Sprintf("%x%s", sha256.Sum256([]byte(site)), ledgerSuffix)}
}

// parseLedgerKey reads a key from a listing, which also names what others keep.
func parseLedgerKey(key string) (k ledgerKey, ok bool) {
	rest, ok := strings.CutPrefix(key, storageRoot+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || !strings.HasSuffix(parts[2], ledgerSuffix) {
		return ledgerKey{}, false
	}
	k = ledgerKey{parts[0], parts[1], parts[2]}
	return k, k.dir == dirLedger || k.dir == dirSetAside
}

// storedLedger is what an instance has stored.
type storedLedger struct {
	keys     []ledgerKey
	modified time.Time // the latest
}

// read restores what this instance has stored, if that was not done yet, and
// takes notice of what others have.
func (s *ledgerStore) read(ctx context.Context) {
	found, err := s.list(ctx)
	if err != nil {
		s.failed(ctx, "the ledger cannot be read from the storage; it is tried again", err)
		return
	}
	s.restore(ctx, found[s.instance].keys)
	delete(found, s.instance)
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return found[b].modified.Compare(found[a].modified) })
	others := ledger.New(s.now)
	others.Retain(s.retain)
	for _, name := range names[:min(len(names), maxLedgerInstances)] {
		for _, key := range found[name].keys {
			if stored, err := s.load(ctx, key); err == nil {
				others.Restore(stored.Site, stored.Since)
			} else if c := s.logger.Check(zap.DebugLevel, "the ledger of another instance cannot be read"); c != nil {
				c.Write(zap.Stringer("key", key), zap.Error(err))
			}
		}
	}
	if ctx.Err() == nil {
		s.state.others.Store(others)
	}
}

// list returns what instances have stored. What nobody has refreshed for long
// is removed.
func (s *ledgerStore) list(ctx context.Context) (map[string]storedLedger, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	keys, err := s.storage.List(ctx, storageRoot, true)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := make(map[string]storedLedger)
	for _, name := range keys {
		key, ok := parseLedgerKey(name)
		if !ok {
			continue
		}
		_, modified, err := s.stat(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by another instance
		}
		if err != nil {
			return nil, err
		}
		if !modified.IsZero() && s.now().Sub(modified) >= maxUnrefreshed {
			if err := s.storage.Delete(ctx, name); err == nil { // else it is found again
				sharedMetrics().storageRead(key.dir, readExpired)
			}
			continue
		}
		if key.dir != dirLedger {
			continue
		}
		known := found[key.instance]
		known.keys = append(known.keys, key)
		if modified.After(known.modified) {
			known.modified = modified
		}
		found[key.instance] = known
	}
	return found, nil
}

// restore takes what this instance has stored into the ledger, once in the life
// of the process.
func (s *ledgerStore) restore(ctx context.Context, keys []ledgerKey) {
	s.state.taken.mu.Lock()
	defer s.state.taken.mu.Unlock()
	if s.state.taken.done {
		return
	}
	var sites []ledger.Stored
	for _, key := range keys {
		stored, err := s.load(ctx, key)
		switch {
		case errors.Is(err, errUnusable):
			s.setAside(ctx, key, err)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			s.failed(ctx, "the ledger cannot be read from the storage; it is tried again", err)
			return
		case err == nil:
			sites = append(sites, stored)
		}
	}
	for _, stored := range sites {
		s.state.ledger.Restore(stored.Site, stored.Since)
	}
	s.state.taken.done = true
	if len(sites) > 0 {
		s.logger.Info("ledger restored from the storage", zap.Int("sites", len(sites)))
	}
}

// errUnusable says that a value is no site of a ledger.
var errUnusable = errors.New("it cannot be used")

// load reads a site, and counts what came of it.
func (s *ledgerStore) load(ctx context.Context, key ledgerKey) (ledger.Stored, error) {
	stored, err := s.loadOne(ctx, key)
	switch {
	case err == nil:
		sharedMetrics().storageRead(dirLedger, readGood)
	case errors.Is(err, errUnusable):
		sharedMetrics().storageRead(dirLedger, readSetAside)
	case !errors.Is(err, fs.ErrNotExist): // else it was removed by another instance
		sharedMetrics().storageRead(dirLedger, readFailed)
	}
	return stored, err
}

func (s *ledgerStore) loadOne(ctx context.Context, key ledgerKey) (ledger.Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	size, _, err := s.stat(ctx, key.String())
	if err != nil {
		return ledger.Stored{}, err
	}
	if size > ledger.MaxStored {
		return ledger.Stored{}, fmt.Errorf("%w: it has %d bytes", errUnusable, size)
	}
	data, err := s.storage.Load(ctx, key.String())
	if err != nil {
		return ledger.Stored{}, err
	}
	stored, err := ledger.DecodeStored(data)
	if err != nil {
		return ledger.Stored{}, fmt.Errorf("%w: %w", errUnusable, err)
	}
	if ledgerKeyOf(key.instance, stored.Site.Name) != key {
		return ledger.Stored{}, fmt.Errorf("%w: it is about %s, which has another key", errUnusable, stored.Site.Name)
	}
	return stored, nil
}

// setAside keeps a value that cannot be used out of the way.
func (s *ledgerStore) setAside(ctx context.Context, key ledgerKey, reason error) {
	s.logger.Warn("a stored ledger cannot be used and is set aside", zap.Stringer("key", key), zap.NamedError("reason", reason))
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	data, err := s.storage.Load(ctx, key.String())
	if err != nil {
		return
	}
	aside := ledgerKey{key.instance, dirSetAside, key.name}
	if err := s.storage.Store(ctx, aside.String(), data); err == nil {
		_ = s.storage.Delete(ctx, key.String()) // else it is replaced by the next writing
	}
}

// write stores the sites with a request since they were last written, and the
// others once in a while, so that they are not taken for those of the dead.
func (s *ledgerStore) write(ctx context.Context) {
	s.state.taken.mu.Lock()
	ready := s.state.taken.done
	s.state.taken.mu.Unlock()
	if !ready {
		return
	}
	snapshot := s.state.ledger.Snapshot()
	for _, site := range snapshot.Sites {
		last := int64(0)
		for _, row := range site.Rows {
			last = max(last, row.LastSeen)
			if row.Read != nil {
				last = max(last, row.Read.At)
			}
		}
		now := s.now()
		if known := s.written[site.Name]; known.last == last && now.Sub(known.saved) < renewNotes {
			continue
		}
		if err := s.writeOne(ctx, ledger.Stored{Since: ledger.Time(snapshot.Since), Saved: now, Site: site}); err != nil {
			s.failed(ctx, "the ledger cannot be stored; it is tried again", err)
			return
		}
		s.written[site.Name] = writtenLedger{last, now}
	}
	if s.failing {
		s.failing = false
		s.logger.Info("the ledger can be stored again")
	}
}

func (s *ledgerStore) writeOne(ctx context.Context, stored ledger.Stored) error {
	data, err := stored.Encode()
	if err != nil {
		return fmt.Errorf("site %s: %w", stored.Site.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	err = s.storage.Store(ctx, ledgerKeyOf(s.instance, stored.Site.Name).String(), data)
	sharedMetrics().storageWritten(dirLedger, stored.Saved, err)
	return err
}

// failed logs the first failure in a row.
func (s *ledgerStore) failed(ctx context.Context, message string, err error) {
	if ctx.Err() != nil || s.failing {
		return
	}
	s.failing = true
	s.logger.Warn(message, zap.Error(err))
}
