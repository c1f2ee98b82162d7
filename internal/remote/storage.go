package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// Storage is where the last good version of a text at a URL outlives a restart. What is
// not there is [fs.ErrNotExist].
type Storage interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
}

// How long the storage may take: while a configuration is loaded, and later.
const (
	loadTime  = 2 * time.Second
	storeTime = 10 * time.Second
)

// KeyIn returns where in a directory a text is stored, by its name. All instances share
// it: each has read it from the same place.
func KeyIn(directory, name string) string {
	hash := sha256.Sum256([]byte(name))
	return directory + "/" + hex.EncodeToString(hash[:16]) + ".json"
}

// Load reads a value of a storage, for which nobody waits long.
func Load(ctx context.Context, from Storage, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	type loaded struct {
		value []byte
		err   error
	}
	done := make(chan loaded, 1)
	go func() { // a storage may not look at ctx
		value, err := from.Load(ctx, key)
		done <- loaded{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		return nil, errors.New("the storage has not answered in time")
	}
}

// Store writes a value into a storage.
func Store(ctx context.Context, into Storage, key string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	return into.Store(ctx, key, value)
}
