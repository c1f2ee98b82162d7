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

// operationTimeout is the timeout for an operation of the storage.
const operationTimeout = 10 * time.Second

// Storage has the methods of Caddy's storage that a store uses. Writes must be atomic. The error
// for a missing value or directory is [fs.ErrNotExist].
type Storage interface {
	// Store writes or replaces a value.
	Store(ctx context.Context, key string, value []byte) error
	// Load returns the value with a key.
	Load(ctx context.Context, key string) ([]byte, error)
	// Delete removes a value.
	Delete(ctx context.Context, key string) error
	// List returns the keys and directories in a directory. If recursive is set, all levels below
	// are included.
	List(ctx context.Context, directory string, recursive bool) ([]string, error)
	// Stat returns the size and the modification time of a value. The time is zero if unknown.
	Stat(ctx context.Context, key string) (size int64, modified time.Time, err error)
}

// Observer counts the operations on stored values, for metrics. kind is one of [Kinds].
type Observer interface {
	// ValueWritten counts an attempt to write a value.
	ValueWritten(kind string, at time.Time, err error)
	// ValueRead counts a read value. [AllReadResults] has the possible results.
	ValueRead(kind, result string)
}

// These are the results of reading a value.
const (
	resultGood     = "good"
	resultSetAside = "set_aside" // The value was invalid.
	resultExpired  = "expired"   // The value was too old. Most values expire after 31 days.
	resultFailed   = "failed"
)

// AllReadResults returns the possible results of reading a value, which are labels of metrics.
func AllReadResults() []string {
	return []string{resultGood, resultSetAside, resultExpired, resultFailed}
}

// maxListAttempts is the maximum number of attempts to list a directory whose files are being
// removed.
const maxListAttempts = 5

// list returns the keys and directories in a directory of the storage. The result is empty if the
// directory does not exist.
func (s *Store) list(ctx context.Context, directory string) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	for range maxListAttempts {
		names, err = s.storage.List(ctx, directory, false)
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return names, err
		case !isErrorOfFileIn(err, directory):
			return nil, nil
		}
	}
	// The error must not match [fs.ErrNotExist].
	return nil, fmt.Errorf("files are removed while the directory is listed: %v", err)
}

// isErrorOfFileIn reports whether an error is about a file in the directory, and not about the
// directory itself. Caddy's file storage stops a listing at a removed file, such as the temporary
// file of a concurrent write.
func isErrorOfFileIn(err error, directory string) bool {
	file, ok := errors.AsType[*fs.PathError](err)
	return ok && filepath.Base(file.Path) != path.Base(directory)
}

// stat returns the size and the modification time of a stored value.
func (s *Store) stat(ctx context.Context, k key) (size int64, modified time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	return s.storage.Stat(ctx, k.String())
}

// listKind returns the keys of an instance's values of a kind, at most maxPerInstance.
func (s *Store) listKind(ctx context.Context, instance string, kind *kind) ([]key, error) {
	keys, err := s.listKeys(ctx, key{instance: instance, kind: kind.name})
	keys = slices.DeleteFunc(keys, func(k key) bool { return !kind.contains(k) })
	return keys[:min(len(keys), kind.maxPerInstance)], err
}

// listKeys returns the keys of the values in the directory of the given key.
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

// listInstances returns the instances that have stored values. The result may include this
// instance.
func (s *Store) listInstances(ctx context.Context) (instances []string, err error) {
	names, err := s.list(ctx, rootDir)
	for _, name := range names {
		if instance := parseInstance(name); instance != "" {
			instances = append(instances, instance)
		}
	}
	return instances, err
}
