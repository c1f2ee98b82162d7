package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"
)

// Storage stores the last good version of a URL's content. Load returns [fs.ErrNotExist] for
// an unknown key.
type Storage interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
}

// Timeouts of the storage, while a configuration loads and later.
const (
	loadTime  = 2 * time.Second
	storeTime = 10 * time.Second
)

// KeyIn returns the storage key for a name. All instances share the key.
func KeyIn(directory, name string) string {
	hash := sha256.Sum256([]byte(name))
	return directory + "/" + hex.EncodeToString(hash[:16]) + ".json"
}

// Sum returns the checksum of stored content.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// CheckSum returns an error if content has another checksum. An empty checksum is valid.
func CheckSum(data []byte, sum string) error {
	if sum != "" && sum != Sum(data) {
		return errors.New("damaged: checksum mismatch")
	}
	return nil
}

// Asking limits a configuration to one storage operation at a time, so that a storage that
// hangs blocks only one goroutine. The zero value is ready for use.
type Asking struct{ waits atomic.Bool }

// Load reads a value with a timeout.
func (a *Asking) Load(ctx context.Context, from Storage, key string) ([]byte, error) {
	return a.within(ctx, loadTime, func(ctx context.Context) ([]byte, error) { return from.Load(ctx, key) })
}

// Store writes a value with a timeout.
func (a *Asking) Store(ctx context.Context, into Storage, key string, value []byte) error {
	_, err := a.within(ctx, storeTime, func(ctx context.Context) ([]byte, error) { return nil, into.Store(ctx, key, value) })
	return err
}

var errHangs = errors.New("the storage has not answered in time")

// within runs an operation with a timeout, even if the operation ignores ctx.
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
