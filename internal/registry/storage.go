package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// storedVersion is the stored form of a version.
type storedVersion struct {
	Registry     string    `json:"registry"`
	Read         time.Time `json:"read"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Data         []byte    `json:"data"`
	SHA256       string    `json:"sha256,omitempty"` // of Data
}

// key returns the storage key. All instances with the same URL share it.
func (f *Feed) key() string { return remote.StorageKey("robots_guard/v1/registry", f.Name()) }

// restore puts the stored version of a URL into use, if no version is in use. After a
// response of the storage it does nothing. f.fetchMu must be held.
func (f *Feed) restore(ctx context.Context, limiter *remote.StorageLimiter, storage remote.Storage) {
	if f.isRestored || storage == nil || f.IsFile() {
		return
	}
	if f.InUse() != nil {
		f.isRestored = true
		return
	}
	value, err := limiter.Load(ctx, storage, f.key())
	if errors.Is(err, fs.ErrNotExist) {
		f.isRestored = true
		return
	}
	var stored *storedVersion
	var version *Version
	if err == nil {
		f.isRestored = true
		stored, version, err = f.decode(value)
	}
	f.mu.Lock()
	if err != nil {
		if u := f.users.First(); u != nil {
			u.Logger.Warn("the stored registry cannot be used", zap.String("registry", f.Name()), zap.Error(err))
		}
		f.mu.Unlock()
		return
	}
	f.storedHash, f.lastConfirmed = version.hash, stored.Read
	if f.invalidErr == nil { // otherwise the validators belong to an invalid response
		f.lastAnswer = remote.Answer{ETag: stored.ETag, LastModified: stored.LastModified}
	}
	f.activate(version)
}

// decode returns the version of a stored record.
func (f *Feed) decode(value []byte) (*storedVersion, *Version, error) {
	r := new(storedVersion)
	if err := json.Unmarshal(value, r); err != nil {
		return nil, nil, err
	}
	if r.Registry != f.Name() {
		return nil, nil, fmt.Errorf("the stored value belongs to %s", r.Registry)
	}
	if err := remote.VerifyChecksum(r.Data, r.SHA256); err != nil {
		return nil, nil, err
	}
	v, err := f.parse(r.Data)
	return r, v, err
}

// store stores the version in use if it is not stored. f.fetchMu must be held.
func (f *Feed) store(ctx context.Context, user *User) {
	f.mu.Lock()
	inUse := f.inUse
	stored := storedVersion{Registry: f.Name(), Read: f.Now().UTC()}
	if f.lastErr == nil { // otherwise the validators belong to another version
		stored.ETag, stored.LastModified = f.lastAnswer.ETag, f.lastAnswer.LastModified
	}
	f.mu.Unlock()
	if inUse == nil || inUse.hash == f.storedHash {
		return
	}
	stored.Data, stored.SHA256 = inUse.data, remote.Checksum(inUse.data)
	value, err := json.Marshal(&stored)
	if err == nil {
		err = user.storageLimiter.Store(ctx, user.Storage, f.key(), value)
	}
	if err == nil {
		f.storedHash = inUse.hash
	} else if !f.storeFailed {
		user.Logger.Warn("the registry could not be stored; after a restart it has to be fetched before it is in use",
			zap.String("registry", f.Name()), zap.Error(err))
	}
	f.storeFailed = err != nil
}
