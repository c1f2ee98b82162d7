package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
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

// Sum returns what tells whether a text is stored as it was read.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// CheckSum tells that a stored text has another sum. Earlier versions of this product have
// stored none.
func CheckSum(data []byte, sum string) error {
	if sum != "" && sum != Sum(data) {
		return errors.New("it is damaged: the checksum is another")
	}
	return nil
}

// Asking is what a configuration asks of a storage: one thing at a time, as one that hangs
// would keep each further one for as long. The zero Asking waits for nothing.
type Asking struct{ waits atomic.Bool }

// Load reads a value of a storage, for which nobody waits long.
func (a *Asking) Load(ctx context.Context, from Storage, key string) ([]byte, error) {
	return a.within(ctx, loadTime, func(ctx context.Context) ([]byte, error) { return from.Load(ctx, key) })
}

// Store writes a value into a storage.
func (a *Asking) Store(ctx context.Context, into Storage, key string, value []byte) error {
	_, err := a.within(ctx, storeTime, func(ctx context.Context) ([]byte, error) { return nil, into.Store(ctx, key, value) })
	return err
}

var errHangs = errors.New("the storage has not answered in time")

// within returns what comes of a deed within a time, whether it looks at ctx or not, as a
// file system that hangs does not.
func (a *Asking) within(ctx context.Context, most time.Duration, do func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if a.waits.Swap(true) {
		return nil, errHangs
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	type result struct {
		value []byte
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do(ctx)
		a.waits.Store(false)
		done <- result{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		return nil, errHangs
	}
}
