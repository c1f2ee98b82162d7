package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// Directory is the storage directory of the histories.
const Directory = "robots_guard/v1/managed"

// These are the maximum time of a storage operation, the maximum wait for the lock, and the time
// for which a lock is safe. A storage treats the lock of a killed instance as stale after ten
// seconds or more.
const (
	opTimeout  = 10 * time.Second
	lockWait   = 30 * time.Second
	lockIsSafe = 20 * time.Second
)

// Storage is the part of Caddy's storage that a Store uses. A write must be atomic. The error for a
// missing value must be [fs.ErrNotExist].
type Storage interface {
	Lock(ctx context.Context, name string) error
	Unlock(ctx context.Context, name string) error
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, directory string, recursive bool) ([]string, error)
}

// The maximum size of a history to read, in bytes, objects and arrays. Histories that a Store writes
// are smaller.
const (
	maxState        = 128 << 20
	maxStateObjects = 20_000
	maxStateArrays  = 20_000
)

// ErrDamaged is returned for an invalid value. The next write moves a damaged history aside.
var ErrDamaged = errors.New("the stored history is damaged")

// ErrLost is returned if the stored history is gone. The next write restores the history.
var ErrLost = errors.New("the stored history is gone")

// Store reads and writes the history of a site.
//
// A spec is written before the history that refers to it. After a crash, a spec may be unused, but
// no change lacks its spec. Unused specs are deleted after a later write of the history.
type Store struct {
	storage     Storage
	directory   string
	site        *SiteHistory
	now         func() time.Time
	lastData    []byte  // lastData is the value that was read last.
	lastHistory History // lastHistory is parsed from lastData.
	// OnDamaged is called after a damaged history was moved to another key. It may be nil.
	OnDamaged func(key string, err error)
}

// NewStore returns the store of a site. All instances must use the same name for the site. now is
// the clock.
func NewStore(storage Storage, name string, site *SiteHistory, now func() time.Time) *Store {
	sum := sha256.Sum256([]byte(name))
	return &Store{storage: storage, directory: path.Join(Directory, hex.EncodeToString(sum[:16])), site: site, now: now}
}

func (s *Store) historyKey() string       { return s.directory + "/state.json" }
func (s *Store) specKey(id string) string { return s.directory + "/specs/" + id + ".json" }

// ReadHistory reads the history. If nothing is stored, it returns the zero History, or [ErrLost] if
// a history was stored before.
func (s *Store) ReadHistory(ctx context.Context) (History, error) {
	end, err := s.site.lockStorage(ctx)
	if err != nil {
		return History{}, err
	}
	defer end()
	state, data, err := s.read(ctx)
	if known, ok := s.site.History(); err == nil && data == nil && ok && known.Revision > 0 {
		return known, ErrLost // The history in memory remains, and the next write restores it.
	}
	if err == nil {
		s.site.setHistory(state)
	}
	return state, err
}

// read reads the history, and data, its stored form. data is nil if nothing is stored.
func (s *Store) read(ctx context.Context) (state History, data []byte, err error) {
	data, err = s.load(ctx, s.historyKey())
	if errors.Is(err, fs.ErrNotExist) {
		return History{}, nil, nil
	}
	if err != nil {
		return History{}, nil, err
	}
	if s.lastData != nil && bytes.Equal(data, s.lastData) {
		return s.lastHistory, data, nil
	}
	if objects, arrays := jsontext.CountContainers(data); len(data) > maxState || objects > maxStateObjects || arrays > maxStateArrays {
		return History{}, data, fmt.Errorf("%w: %s: the value is larger than a history can be", ErrDamaged, s.historyKey())
	}
	if err := json.Unmarshal(data, &state); err != nil || !isValidCounter(state.Revision-1) || !isValidCounter(int64(state.ChangeCount)) {
		return History{}, data, errors.Join(fmt.Errorf("%w: %s", ErrDamaged, s.historyKey()), err)
	}
	if !state.allPastEnded() {
		return History{}, data, fmt.Errorf("%w: %s: a past change has no end time", ErrDamaged, s.historyKey())
	}
	s.lastData, s.lastHistory = data, state
	return state, data, nil
}

// isValidCounter reports whether n is a possible counter: neither negative nor too large to be
// increased.
func isValidCounter(n int64) bool { return 0 <= n && n < 1<<53 }

func (s *Store) load(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	if err := context.Cause(ctx); err != nil {
		return nil, err // Some storages ignore the context.
	}
	return s.storage.Load(ctx, key)
}

func (s *Store) store(ctx context.Context, key string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	return s.storage.Store(ctx, key, value)
}

// ReadSpec returns the spec with an ID, from memory or from the storage.
func (s *Store) ReadSpec(ctx context.Context, id string) ([]byte, error) {
	if id == SpecID(Empty) {
		return Empty, nil
	}
	if spec, ok := s.site.findSpec(id); ok {
		return spec, nil
	}
	// Such an ID could be the path of another value.
	if len(id) != len(SpecID(nil)) || strings.Trim(id, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("the rules of change %.40q: %w", id, fs.ErrNotExist)
	}
	spec, err := s.load(ctx, s.specKey(id))
	if err != nil {
		return nil, fmt.Errorf("the rules of change %s: %w", id, err)
	}
	if SpecID(spec) != id {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, s.specKey(id))
	}
	s.site.cacheSpec(id, spec)
	return spec, nil
}

// HistoryStep is a modification of a history. changed is the change whose state was set, or nil.
type HistoryStep func(History) (after History, changed *Change, err error)

// Update applies a step to the stored history. Meanwhile it holds the lock that all instances
// share. spec is the submitted spec, or nil. After an error, the history is unchanged.
func (s *Store) Update(ctx context.Context, spec []byte, step HistoryStep) (after History, changed *Change, err error) {
	end, err := s.site.lockStorage(ctx)
	if err != nil {
		return History{}, nil, err
	}
	defer end()
	lock := strings.ReplaceAll(s.directory, "/", "_")
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := s.storage.Lock(waiting, lock); err != nil {
		return History{}, nil, fmt.Errorf("waiting for the lock of the history: %w", err)
	}
	locked := s.now()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opTimeout)
		defer cancel()
		_ = s.storage.Unlock(ctx, lock) // After an error, the lock becomes stale.
	}()
	before, data, err := s.readOrRecover(ctx)
	if err != nil {
		return History{}, nil, err
	}
	if after, changed, err = step(before); err != nil {
		return before, nil, err
	}
	after.Revision = before.Revision
	if same, err := json.Marshal(after); err != nil || bytes.Equal(same, data) {
		if err == nil && spec != nil {
			s.site.cacheSpec(SpecID(spec), spec) // This can be the published spec after a restart.
		}
		return before, changed, err
	}
	after.Revision++
	if spec != nil && changed != nil {
		if err := s.store(ctx, s.specKey(SpecID(spec)), spec); err != nil {
			return before, nil, err
		}
	}
	if s.now().Sub(locked) > lockIsSafe {
		return before, nil, errors.New("the storage is too slow; another instance may hold the lock")
	}
	if err := s.writeHistory(ctx, after); err != nil {
		return before, nil, err
	}
	if spec != nil {
		s.site.cacheSpec(SpecID(spec), spec)
	}
	if changed != nil {
		s.deleteSpecs(ctx, after.SpecIDs())
	}
	return after, changed, nil
}

// writeHistory writes a history to the storage and to memory.
func (s *Store) writeHistory(ctx context.Context, state History) error {
	data, err := json.Marshal(state)
	if err == nil {
		err = s.store(ctx, s.historyKey(), data)
	}
	if err == nil {
		s.site.setHistory(state)
	}
	return err
}

// readOrRecover returns the stored history. If it is damaged or lost, the result is the history in
// memory, or an empty history. A damaged history is first moved to another key.
func (s *Store) readOrRecover(ctx context.Context) (History, []byte, error) {
	state, data, err := s.read(ctx)
	known, ok := s.site.History()
	switch {
	case errors.Is(err, ErrDamaged):
		aside := fmt.Sprintf("%s.damaged-%d", s.historyKey(), s.now().Unix())
		if kept := s.store(ctx, aside, data); kept != nil {
			return History{}, nil, errors.Join(err, kept)
		}
		if s.OnDamaged != nil {
			s.OnDamaged(aside, err)
		}
		return known, nil, s.restoreSpecs(ctx, known)
	case err != nil:
		return History{}, nil, err
	case data == nil && ok:
		return known, nil, s.restoreSpecs(ctx, known)
	}
	return state, data, nil
}

// restoreSpecs writes the specs that a history uses again, as far as they are in memory.
func (s *Store) restoreSpecs(ctx context.Context, known History) error {
	for _, id := range known.specIDsInUse() {
		if spec, ok := s.site.findSpec(id); ok {
			if err := s.store(ctx, s.specKey(id), spec); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteSpecs deletes all specs except those with an ID in named. deleteSpecs ignores errors,
// because the next update deletes the remaining specs.
func (s *Store) deleteSpecs(ctx context.Context, named []string) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	keys, err := s.storage.List(ctx, s.directory+"/specs", false)
	if err != nil {
		return
	}
	for _, key := range keys {
		id, ok := strings.CutSuffix(path.Base(key), ".json")
		if ok && !slices.Contains(named, id) {
			_ = s.storage.Delete(ctx, key)
		}
	}
}
