package caddymodule

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	noteInterval  = 10 * time.Second   // between two writes of the same note
	visitInterval = time.Minute        // the same, where only visits are new
	syncInterval  = 15 * time.Second   // between looks at the notes of siblings
	renewNotes    = 7 * 24 * time.Hour // after that a note is written again, so that it is not taken for one of the dead

	maxSiblings = 1024
	quietAfter  = 25 * time.Hour // without news a sibling is looked at less often
	quietLooks  = 40             // one look in so many
)

// notes is what a store knows of the values beside the policies: who has read
// what, and what the change guard remembers.
type notes struct {
	known    bool // what this instance had stored was read, so it can be replaced
	stored   map[storageKey]storedNote
	siblings map[string]*sibling
	looks    int
}

// storedNote is what is known of a note of this instance.
type storedNote struct {
	sum   [sha256.Size]byte // of what is stored
	saved time.Time
	done  revision // which is stored

	failures int
	retry    time.Time
}

// sibling is another instance.
type sibling struct {
	seen   map[storageKey]time.Time // when what was read last was written
	latest time.Time                // of all that it has written, as far as is known
}

func newNotes() notes {
	return notes{stored: make(map[storageKey]storedNote), siblings: make(map[string]*sibling)}
}

// sibling returns what is known of another instance, nil if there are too many.
func (n *notes) sibling(instance string) *sibling {
	known := n.siblings[instance]
	if known == nil && len(n.siblings) < maxSiblings {
		known = &sibling{seen: make(map[storageKey]time.Time)}
		n.siblings[instance] = known
	}
	return known
}

// heard notes that another instance has written something. found.mu guards it.
func (n *notes) heard(instance string, at time.Time) {
	if sibling := n.siblings[instance]; sibling != nil && at.After(sibling.latest) {
		sibling.latest = at
	}
}

func readersKey(instance string, part int) storageKey {
	return storageKey{instance, dirReaders, fmt.Sprintf("%d.json", part)}
}

// writeNotes stores the notes of this instance that say something new. Nothing
// that is pending waits if last is set.
func (s *store) writeNotes(ctx context.Context, last bool) {
	if !s.notes.known {
		return
	}
	after := func(d time.Duration) time.Duration {
		if last {
			return 0
		}
		return d
	}
	for part := range ledger.ReaderParts {
		at := revision{noted: s.state.readers.Noted(part)}
		err := s.writeNote(ctx, readersKey(s.instance, part), at, after(noteInterval), func() (ledger.Document, bool, error) {
			return s.state.readers.EncodePart(part, s.now())
		})
		if err != nil {
			return
		}
	}
	for key, at := range s.state.changes.stored() {
		note := storageKey{s.instance, dirChanges, storageName(key)}
		wait := after(visitInterval)
		if s.notes.stored[note].done.turned != at.turned {
			wait = 0
		}
		err := s.writeNote(ctx, note, at, wait, func() (ledger.Document, bool, error) {
			kept, ok := s.state.changes.snapshot(key)
			d, err := kept.Encode(s.now())
			return d, !ok, err
		})
		if err != nil {
			return
		}
	}
	if s.writeLists(ctx, after(noteInterval)) != nil {
		return
	}
	s.forgetNotes()
}

// writeNote stores a note that has become another, once the last write was so
// long ago.
func (s *store) writeNote(ctx context.Context, key storageKey, at revision, wait time.Duration, encode func() (d ledger.Document, empty bool, err error)) error {
	now, known := s.now(), s.notes.stored[key]
	renew := !known.saved.IsZero() && now.Sub(known.saved) >= renewNotes
	if at == known.done && !renew || now.Before(known.retry) || !known.saved.IsZero() && now.Sub(known.saved) < wait {
		return nil
	}
	s.state.writing.Lock()
	defer s.state.writing.Unlock()
	d, empty, err := encode()
	if err == nil && (d.Sum == known.sum && !renew || empty && known.saved.IsZero()) {
		known.done = at
		s.notes.stored[key] = known
		return nil
	}
	if err == nil && empty && renew {
		return nil // it will be removed in time
	}
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opTimeout)
		defer cancel()
		err = s.storage.Store(ctx, key.String(), d.Data)
		sharedMetrics().storageWritten(key.dir, now, err)
	}
	if err != nil {
		known.retry = now.Add(min(lastWriteRetry, firstWriteRetry<<min(known.failures, 10)))
		known.failures++
		s.notes.stored[key] = known
		s.failed(key, err)
		return err
	}
	s.succeeded()
	s.notes.stored[key] = storedNote{sum: d.Sum, saved: d.Saved, done: at}
	return nil
}

// forgetNotes drops what is known of notes about sites that are not remembered
// any more.
func (s *store) forgetNotes() {
	if len(s.notes.stored) <= 2*maxChangingNamed {
		return
	}
	names := make(map[string]bool)
	for key := range s.state.changes.stored() {
		names[storageName(key)] = true
	}
	for key := range s.notes.stored {
		if key.dir == dirChanges && !names[key.name] {
			delete(s.notes.stored, key)
		}
	}
}

// takeNote takes in a note. found.mu guards what is known of notes.
func (s *store) takeNote(ctx context.Context, key storageKey, data []byte, modified time.Time, old bool, found *survey) {
	if key.dir == dirLists {
		s.takeLists(ctx, key, data, modified, old, found)
		return
	}
	own := key.instance == s.instance
	var (
		readers []ledger.ReadBy
		changes ledger.Changes
		d       ledger.Document
		err     error
	)
	if key.dir == dirReaders {
		readers, d, err = ledger.DecodeReaders(data)
	} else if changes, d, err = ledger.DecodeChanges(data); err == nil && storageName(changes.Site) != key.name {
		err = fmt.Errorf("it is about %s, which has another key", changes.Site)
	}
	switch {
	case errors.Is(err, ledger.ErrOutdated):
		s.dropOutdated(ctx, key, old, found)
		s.noteSeen(key, modified, found)
		return
	case err != nil:
		s.setAside(ctx, key, data, err, old, found)
		return
	case s.now().Sub(d.Saved) >= maxUnrefreshed:
		s.remove(ctx, key, found)
		return
	}
	sharedMetrics().storageRead(key.dir, readGood)
	held, complete := 0, true
	switch source := changes.Site.Source; {
	case key.dir == dirReaders:
		s.state.readers.Merge(readers, !own, s.now())
		for _, read := range readers {
			if e := s.state.cache.Get(read.Site); e != nil && read.Hash != [sha256.Size]byte{} && s.now().Sub(read.At) < policy.MaxAge {
				e.Saw(read.Hash, s.now())
			}
		}
	case own || source == "" || isURL(source): // a file of the same name is another one for each instance
		held, complete = s.restoreChanges(changes, !own)
	}
	if complete {
		s.noteSeen(key, modified, found)
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.held += held
	if own {
		s.notes.stored[key] = storedNote{sum: d.Sum, saved: d.Saved}
	}
}

// noteSeen notes that a note of another instance was read, so that it is not
// read again before it is another.
func (s *store) noteSeen(key storageKey, modified time.Time, found *survey) {
	found.mu.Lock()
	defer found.mu.Unlock()
	if key.instance == s.instance {
		return
	}
	if sibling := s.notes.sibling(key.instance); sibling != nil {
		sibling.seen[key] = modified
	}
}

func (s *store) restoreChanges(changes ledger.Changes, elsewhere bool) (held int, complete bool) {
	if e := s.state.cache.Get(changes.Site); e != nil {
		return s.state.changes.restore(changes, e.Standing(), elsewhere)
	}
	return s.state.changes.restore(changes, nil, elsewhere)
}

// syncNotes takes in what siblings have noted since the last look.
func (s *store) syncNotes(ctx context.Context) {
	s.notes.looks++
	found := new(survey)
	if !s.notes.known {
		if s.syncInstance(ctx, s.instance, nil, found); ctx.Err() == nil && found.failed == 0 {
			s.notes.known = true
		}
	}
	for _, instance := range s.instances(ctx) {
		if found.failed > 0 || ctx.Err() != nil {
			break
		}
		_, known := s.notes.siblings[instance]
		sibling := s.notes.sibling(instance)
		if sibling == nil {
			continue
		}
		if !known {
			sibling.latest = s.now() // it has just begun
		}
		if s.now().Sub(sibling.latest) >= quietAfter && s.notes.looks%quietLooks != 0 {
			continue
		}
		s.syncInstance(ctx, instance, sibling, found)
	}
	if ctx.Err() == nil {
		s.report(found, 0)
	}
}

// instances returns all other instances, as far as the storage tells.
func (s *store) instances(ctx context.Context) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	keys, err := s.storage.List(ctx, storageRoot, false)
	known := make(map[string]bool)
	for instance := range s.notes.siblings {
		known[instance] = true
	}
	if err == nil {
		for _, key := range keys {
			if instance := instanceOf(key); instance != "" {
				known[instance] = true
			}
		}
	}
	delete(known, s.instance)
	for instance := range known {
		all = append(all, instance)
	}
	return all
}

// syncInstance reads the notes of an instance that were written since the last
// look. A first failure ends it: the next look will come.
func (s *store) syncInstance(ctx context.Context, instance string, known *sibling, found *survey) {
	keys := make([]storageKey, 0, ledger.ReaderParts)
	for part := range ledger.ReaderParts {
		keys = append(keys, readersKey(instance, part))
	}
	keys = append(keys, s.listChanges(ctx, instance, found)...)
	for _, key := range keys {
		if found.failed > 0 || ctx.Err() != nil {
			return
		}
		if known == nil || s.isNews(ctx, key, known.seen[key], found) {
			s.readOne(ctx, key, found)
		}
	}
}

// isNews reports whether a note was written since it was read. Clocks of storages
// may be coarse, so one that is new is read again.
func (s *store) isNews(ctx context.Context, key storageKey, seen time.Time, found *survey) bool {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	_, modified, err := s.stat(ctx, key.String())
	if err != nil {
		found.fail(key, err)
		return false
	}
	return modified.IsZero() || !modified.Equal(seen) || s.now().Sub(modified) < time.Minute
}

// listChanges returns the notes of an instance's change guard.
func (s *store) listChanges(ctx context.Context, instance string, found *survey) (keys []storageKey) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	directory := storageKey{instance: instance, dir: dirChanges}
	names, err := s.storage.List(ctx, directory.directory(), false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		found.fail(directory, err)
	}
	for _, name := range names {
		if key, ok := parseStorageKey(name); ok && key.dir == dirChanges && key.instance == instance && len(keys) < maxChangingNamed {
			keys = append(keys, key)
		}
	}
	return keys
}
