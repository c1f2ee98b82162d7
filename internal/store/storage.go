package store

import (
	"context"
	"errors"
	"io/fs"
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

// list returns what is right below a directory, nothing if that is not there.
func (s *Store) list(ctx context.Context, directory string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	names, err := s.storage.List(ctx, directory, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
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
