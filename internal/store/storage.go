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

// operationTimeout is the maximum time of a storage operation.
const operationTimeout = 10 * time.Second

// Storage is the part of Caddy's storage used by a store. Writes must be atomic. The error for a
// missing value or directory is [fs.ErrNotExist].
type Storage interface {
	// Store writes or replaces a value.
	Store(ctx context.Context, key string, value []byte) error
	// Load returns a value.
	Load(ctx context.Context, key string) ([]byte, error)
	// Delete removes a value.
	Delete(ctx context.Context, key string) error
	// List returns the keys and directories in a directory. If recursive is set, all levels below
	// are included.
	List(ctx context.Context, directory string, recursive bool) ([]string, error)
	// Stat returns the size and the modification time of a value. The time is zero if unknown.
	Stat(ctx context.Context, key string) (size int64, modified time.Time, err error)
}

// Observer counts storage operations by kind, see [Kinds].
type Observer interface {
	// ValueWritten counts an attempt to write a value.
	ValueWritten(kind string, at time.Time, err error)
	// ValueRead counts a read value. [ReadResults] has the possible results.
	ValueRead(kind, result string)
}

// The results of reading a value.
const (
	resultGood     = "good"
	resultSetAside = "set_aside" // invalid
	resultExpired  = "expired"   // not refreshed for 31 days
	resultFailed   = "failed"
)

// ReadResults returns the results of reading a value.
func ReadResults() []string { return []string{resultGood, resultSetAside, resultExpired, resultFailed} }

// maxListAttempts is the maximum number of attempts to list a directory whose files are being removed.
const maxListAttempts = 5

// list returns the keys and directories in a directory. The result is empty if the directory does not
// exist.
func (s *Store) list(ctx context.Context, directory string) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	for range maxListAttempts {
		names, err = s.storage.List(ctx, directory, false)
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return names, err
		case !isFileErrorIn(err, directory):
			return nil, nil
		}
	}
	return nil, fmt.Errorf("files are removed while the directory is listed: %v", err) // must not match [fs.ErrNotExist]
}

// isFileErrorIn reports whether an error is about a file in a directory, and not about the
// directory itself. Caddy's file storage stops a listing at a removed file, for example the
// temporary file of a concurrent write.
func isFileErrorIn(err error, directory string) bool {
	file, ok := errors.AsType[*fs.PathError](err)
	return ok && filepath.Base(file.Path) != path.Base(directory)
}

// stat returns the size and the modification time of a value.
func (s *Store) stat(ctx context.Context, k key) (size int64, modified time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	return s.storage.Stat(ctx, k.String())
}

// listKind returns the values of a kind and instance, up to the kind's limit.
func (s *Store) listKind(ctx context.Context, instance string, kind *kind) ([]key, error) {
	keys, err := s.listKeys(ctx, key{instance: instance, kind: kind.name})
	keys = slices.DeleteFunc(keys, func(k key) bool { return !kind.contains(k) })
	return keys[:min(len(keys), kind.maxPerInstance)], err
}

// listKeys returns the keys in the directory of a key.
func (s *Store) listKeys(ctx context.Context, directory key) (keys []key, err error) {
	names, err := s.list(ctx, directory.directory())
	if len(names) > 0 {
		keys = make([]key, 0, len(names))
	}
	for _, name := range names {
		if k, ok := parseKey(name); ok && k.instance == directory.instance && k.kind == directory.kind {
			keys = append(keys, k)
		}
	}
	return keys, err
}

// listInstances returns the instances with stored values. The result may include this instance.
func (s *Store) listInstances(ctx context.Context) (instances []string, err error) {
	names, err := s.list(ctx, rootDir)
	for _, name := range names {
		if instance := instanceOf(name); instance != "" {
			instances = append(instances, instance)
		}
	}
	return instances, err
}
