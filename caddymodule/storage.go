package caddymodule

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	writeInterval   = 2 * time.Second     // between looks for what is to be written
	rewriteInterval = time.Hour           // between notes that a version is still current
	readInterval    = 24 * time.Hour      // between looks at what other instances have written
	maxUnrefreshed  = 31 * 24 * time.Hour // after that a value is removed, whoever wrote it

	startWait = 2 * time.Second // for what is stored, where nothing is known
	opTimeout = 10 * time.Second
	flushTime = 5 * time.Second
	stopWait  = flushTime + time.Second

	keysPerPolicy = 4 // that are read, for a few instances with the same sites
)

// maxKeysFor returns how many values are read where policies of so many named
// sites are kept. No key tells which policies are of others.
func maxKeysFor(policies int) int { return keysPerPolicy * (policies + maxStoredUnnamed) }

// storage is what is used of Caddy's storage (certmagic.Storage). Values are
// written whole or not at all.
type storage interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, path string, recursive bool) ([]string, error)
}

// store keeps in the storage the policies of configured sites and of the most
// used of other hosts, who has read them, what the change guard remembers of them, and the lists of crawler
// addresses:
//
//	robots_guard/v1/<instance>/policies/<hash of the site>.json
//	robots_guard/v1/<instance>/readers/<part>.json
//	robots_guard/v1/<instance>/changes/<hash of the site>.json
//	robots_guard/v1/<instance>/lists/ranges.json
//	robots_guard/v1/<instance>/set_aside/<directory>-<name>.json
//
// Each instance writes keys of its own, so none has to wait for another, and
// reads those of all. Nothing here is on the way of a request: one goroutine
// compares the cache with what it knows to be stored.
type store struct {
	storage  storage
	stat     func(ctx context.Context, key string) (size int64, modified time.Time, err error)
	instance string
	state    *state
	logger   *zap.Logger
	now      func() time.Time
	maxKeys  int
	restored func() // is called once it is known what is stored

	stored  map[policy.Key]storedPolicy
	unnamed map[policy.Key]bool // hosts that no site names of which this instance stores policies
	chosen  time.Time           // when these were chosen
	notes   notes
	failing bool // the last write has failed

	began time.Time
	short bool // the configuration ended before it was known what is stored
}

// storedPolicy is what is known to be stored of a site, by any instance.
type storedPolicy struct {
	hash     [sha256.Size]byte
	status   int
	lastRead time.Time

	failures int // to write it, in a row
	retry    time.Time
}

// newStore returns a store that is not started.
func newStore(ctx caddy.Context, instance string, state *state, logger *zap.Logger) *store {
	shared := ctx.Storage()
	return &store{
		storage: shared,
		stat: func(ctx context.Context, key string) (int64, time.Time, error) {
			info, err := shared.Stat(ctx, key)
			return info.Size, info.Modified, err
		},
		instance: instance,
		state:    state,
		logger:   logger,
		now:      time.Now,
		stored:   make(map[policy.Key]storedPolicy),
		unnamed:  make(map[policy.Key]bool),
		notes:    newNotes(),
	}
}

// start begins to keep policies until ctx ends; the channel is closed when what
// was pending then is written. It waits a little for what is stored if wait is
// set.
func (s *store) start(ctx context.Context, wait bool) (done <-chan struct{}) {
	s.began = s.now()
	s.state.cold.Store(wait)
	ready, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		s.read(ctx)
		s.short = ctx.Err() != nil
		close(ready)
		s.restored()
		s.run(ctx)
	}()
	if wait && !ended(ready, startWait) {
		s.logger.Info("the storage takes its time; requests are judged before all of it is read")
	}
	s.state.cold.Store(false)
	return finished
}

func (s *store) run(ctx context.Context) {
	write, read, sync := time.NewTicker(writeInterval), time.NewTicker(readInterval), time.NewTicker(syncInterval)
	defer write.Stop()
	defer read.Stop()
	defer sync.Stop()
	for {
		select {
		case key := <-s.state.wanted:
			s.adopt(ctx, key)
		case <-write.C:
			s.adoptWanted(ctx) // what is written must not be less than what was there
			s.write(ctx, rewriteInterval)
			s.writeNotes(ctx, false)
		case <-sync.C:
			s.syncNotes(ctx)
		case <-read.C:
			s.read(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			renew := rewriteInterval
			if caddy.Exiting() {
				renew = time.Second
			}
			s.write(last, renew)
			s.writeNotes(last, true)
			return
		}
	}
}

// ended reports whether a channel was closed within a time.
func ended(c <-chan struct{}, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

const storageRoot = "robots_guard/v1"

// The directories of an instance.
const (
	dirPolicies = "policies"
	dirReaders  = "readers"
	dirChanges  = "changes"
	dirLists    = "lists"
	dirSetAside = "set_aside"
)

// storageKey is a key of ours.
type storageKey struct{ instance, dir, name string }

func (k storageKey) String() string {
	return strings.Join([]string{storageRoot, k.instance, k.dir, k.name}, "/")
}

// directory returns the key of all keys of an instance that are of this kind.
func (k storageKey) directory() string {
	return strings.Join([]string{storageRoot, k.instance, k.dir}, "/")
}

// instanceOf returns the instance in a key or directory from a listing, "" if
// it is none of ours.
func instanceOf(key string) string {
	rest, ok := strings.CutPrefix(key, storageRoot+"/")
	if !ok {
		return ""
	}
	instance, _, _ := strings.Cut(rest, "/")
	return instance
}

// storageKeyOf returns where the policy of a site is stored by an instance.
func storageKeyOf(instance string, key policy.Key) storageKey {
	return storageKey{instance, dirPolicies, storageName(key)}
}

// storageName returns the name of what is stored about a site.
func storageName(key policy.Key) string {
	sum := sha256.Sum256([]byte(key.Quoted()))
	return fmt.Sprintf("%x.json", sum)
}

// parseStorageKey reads a key from a listing, which may also name directories
// and what others keep.
func parseStorageKey(key string) (k storageKey, ok bool) {
	rest, ok := strings.CutPrefix(key, storageRoot+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || !strings.HasSuffix(parts[2], ".json") {
		return storageKey{}, false
	}
	k = storageKey{parts[0], parts[1], parts[2]}
	switch k.dir {
	case dirPolicies, dirReaders, dirChanges, dirLists, dirSetAside:
		return k, true
	}
	return storageKey{}, false
}
