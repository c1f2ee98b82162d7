package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// opTimeout is the maximum time of a storage operation.
const opTimeout = 10 * time.Second

// Storage is the part of Caddy's storage that a store uses. Writes must be atomic. The error for a
// missing value or directory is [fs.ErrNotExist].
type Storage interface {
	// Store writes or replaces a value.
	Store(ctx context.Context, key string, value []byte) error
	// Load returns a value.
	Load(ctx context.Context, key string) ([]byte, error)
	// Delete removes a value.
	Delete(ctx context.Context, key string) error
	// List returns the keys and directories in a directory. If recursive is set, it includes all
	// levels below.
	List(ctx context.Context, directory string, recursive bool) ([]string, error)
	// Stat returns the size and the modification time of a value. The time is zero if unknown.
	Stat(ctx context.Context, key string) (size int64, modified time.Time, err error)
}

// Observer counts storage operations. The kinds are those of [Kinds].
type Observer interface {
	// ValueWritten counts an attempt to write a value.
	ValueWritten(kind string, at time.Time, err error)
	// ValueRead counts a read value. result is one of [Results].
	ValueRead(kind, result string)
}

// The results of reading a value.
const (
	readGood     = "good"
	readSetAside = "set_aside" // invalid
	readExpired  = "expired"   // not refreshed for 31 days
	readFailed   = "failed"
)

// Results returns the results of reading a value.
func Results() []string { return []string{readGood, readSetAside, readExpired, readFailed} }

// mostLists is the maximum number of attempts to list a directory whose files are being removed.
const mostLists = 5

// list returns the keys and directories in a directory. The result is empty if the directory does not
// exist.
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
	return nil, fmt.Errorf("files are removed while the directory is listed: %v", err) // must not match [fs.ErrNotExist]
}

// isWithin reports whether an error is about a file in a directory, and not about the directory
// itself. Caddy's file storage stops a listing at a file that was removed meanwhile. An example is
// the temporary file of a concurrent write.
func isWithin(err error, directory string) bool {
	file, ok := errors.AsType[*fs.PathError](err)
	return ok && filepath.Base(file.Path) != path.Base(directory)
}

// stat returns the size and the modification time of a value.
func (s *Store) stat(ctx context.Context, k key) (size int64, modified time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	return s.storage.Stat(ctx, k.String())
}

// keys returns the values of a kind and instance, up to the kind's limit.
func (s *Store) keys(ctx context.Context, instance string, kind *kind) ([]key, error) {
	all, err := s.keysIn(ctx, key{instance: instance, kind: kind.name})
	all = slices.DeleteFunc(all, func(k key) bool { return !kind.has(k) })
	return all[:min(len(all), kind.most)], err
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

// instances returns the instances with stored values. The result may include this instance.
func (s *Store) instances(ctx context.Context) (all []string, err error) {
	names, err := s.list(ctx, root)
	for _, name := range names {
		if instance := instanceOf(name); instance != "" {
			all = append(all, instance)
		}
	}
	return all, err
}
