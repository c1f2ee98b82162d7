package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"
)

// Storage stores the last good content of each URL. Load returns [fs.ErrNotExist] for an unknown
// key.
type Storage interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
}

// loadTimeout and storeTimeout are the timeouts of Load and Store.
const (
	loadTimeout  = 2 * time.Second
	storeTimeout = 10 * time.Second
)

// StorageKey returns a storage key in directory for a name, such as a URL. The key is the same in
// all instances.
func StorageKey(directory, name string) string {
	hash := sha256.Sum256([]byte(name))
	return directory + "/" + hex.EncodeToString(hash[:16]) + ".json"
}

// Checksum returns the SHA-256 hash of data in hexadecimal.
func Checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// VerifyChecksum returns an error if sum is not the checksum of data. An empty sum is valid.
func VerifyChecksum(data []byte, sum string) error {
	if sum != "" && sum != Checksum(data) {
		return errors.New("damaged: checksum mismatch")
	}
	return nil
}

// StorageLimiter allows one storage operation at a time, so that a hanging storage blocks only one
// goroutine. A second operation fails at once. The zero value is ready for use.
type StorageLimiter struct{ busy atomic.Bool }

// Load reads a value from storage. Load returns an error after loadTimeout.
func (a *StorageLimiter) Load(ctx context.Context, storage Storage, key string) ([]byte, error) {
	return a.doWithTimeout(ctx, loadTimeout, func(ctx context.Context) ([]byte, error) { return storage.Load(ctx, key) })
}

// Store writes a value to storage. Store returns an error after storeTimeout.
func (a *StorageLimiter) Store(ctx context.Context, storage Storage, key string, value []byte) error {
	_, err := a.doWithTimeout(ctx, storeTimeout, func(ctx context.Context) ([]byte, error) { return nil, storage.Store(ctx, key, value) })
	return err
}

var errStorageTimeout = errors.New("the storage has not answered in time")

// doWithTimeout calls do in a goroutine and returns its result. After the timeout doWithTimeout
// returns an error, even if do still runs.
func (a *StorageLimiter) doWithTimeout(ctx context.Context, timeout time.Duration, do func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if a.busy.Swap(true) {
		return nil, errStorageTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	type result struct {
		value []byte
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do(ctx)
		a.busy.Store(false)
		done <- result{value, err}
	}()
	select {
	case result := <-done:
		return result.value, result.err
	case <-ctx.Done():
		return nil, errStorageTimeout
	}
}
