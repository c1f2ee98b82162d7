package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"
)

// opTimeout bounds one operation of the storage.
const opTimeout = 10 * time.Second

// Storage is what is used of a storage. Values are written whole or not at all.
// What is not there is [fs.ErrNotExist].
type Storage interface {
	// Store keeps a value in place of what is there.
	Store(ctx context.Context, key string, value []byte) error
	// Load returns a value.
	Load(ctx context.Context, key string) ([]byte, error)
	// Delete removes a value.
	Delete(ctx context.Context, key string) error
	// List returns the keys and directories below one, only those right below
	// it unless recursive is set.
	List(ctx context.Context, directory string, recursive bool) ([]string, error)
	// Stat returns the size of a value and when it was written, if the storage
	// knows that.
	Stat(ctx context.Context, key string) (size int64, modified time.Time, err error)
}

// Observer counts what is done with the storage, by the names in [Kinds].
type Observer interface {
	// ValueWritten is told of each attempt to write a value.
	ValueWritten(kind string, at time.Time, err error)
	// ValueRead is told what came of a value that was looked at, one of [Results].
	ValueRead(kind, result string)
}

// What can come of reading a value.
const (
	readGood     = "good"
	readSetAside = "set_aside" // damaged, or of a newer version
	readExpired  = "expired"   // nobody has refreshed it for long
	readFailed   = "failed"
)

// Results are what can come of reading a value.
func Results() []string { return []string{readGood, readSetAside, readExpired, readFailed} }

// mostLists is how often a directory is listed in which files go away meanwhile.
const mostLists = 5

// list returns what is right below a directory, nothing if that is not there.
func (s *Store) list(ctx context.Context, directory string) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	for range mostLists {
		names, err = s.storage.List(ctx, directory, false)
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return names, err
		case !isWithin(err, directory):
			return nil, nil
		}
	}
	return nil, fmt.Errorf("files go away while they are listed: %v", err) // and no [fs.ErrNotExist]
}

// isWithin reports whether an error is about a file in a directory and not the directory.
// Caddy's own storage breaks off a listing at a file that was there and is gone: each
// process that writes a value has such a file for a moment.
func isWithin(err error, directory string) bool {
	file, ok := errors.AsType[*fs.PathError](err)
	return ok && filepath.Base(file.Path) != path.Base(directory)
}

// stat returns the size of a value and when it was written.
func (s *Store) stat(ctx context.Context, k key) (size int64, modified time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	return s.storage.Stat(ctx, k.String())
}

// keys returns the values of a kind that an instance has stored, at most as many
// as are read.
func (s *Store) keys(ctx context.Context, instance string, kind kind) ([]key, error) {
	all, err := s.keysIn(ctx, key{instance: instance, kind: kind.name()})
	return all[:min(len(all), kind.most())], err
}

// keysIn returns the keys in the directory of a key.
func (s *Store) keysIn(ctx context.Context, directory key) (all []key, err error) {
	names, err := s.list(ctx, directory.directory())
	if len(names) > 0 {
		all = make([]key, 0, len(names))
	}
	for _, name := range names {
		if k, ok := parseKey(name); ok && k.instance == directory.instance && k.kind == directory.kind {
			all = append(all, k)
		}
	}
	return all, err
}

// instances returns who has stored something, this instance among them or not.
func (s *Store) instances(ctx context.Context) (all []string, err error) {
	names, err := s.list(ctx, root)
	for _, name := range names {
		if instance := instanceOf(name); instance != "" {
			all = append(all, instance)
		}
	}
	return all, err
}
