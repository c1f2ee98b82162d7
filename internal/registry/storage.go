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

// storedVersion is the JSON form in which a fetched version is stored.
type storedVersion struct {
	URL          string    `json:"registry"`
	FetchedAt    time.Time `json:"read"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Data         []byte    `json:"data"`
	SHA256       string    `json:"sha256,omitempty"` // SHA256 is the hash of Data.
}

// storageKey returns the key of the fetched version in the storage. All instances with the same URL
// share the key.
func (f *Feed) storageKey() string { return remote.StorageKey("robots_guard/v1/registry", f.Name()) }

// synchronizeStorage runs after each fetch. If no version is in use, it restores the stored
// version. It then stores a new version. It uses the storage of the first user.
func (f *Feed) synchronizeStorage(ctx context.Context) {
	if user, ok := f.FirstUser().(remoteUser); ok && user.Storage != nil && !f.IsFile() {
		f.restoreVersion(ctx, &user.storageLimiter, user.Storage)
		f.storeVersion(ctx, user.FeedUser)
	}
}

// restoreVersion puts the stored version of a URL into use, if no version is in use.
// restoreVersion does nothing if the storage has answered before.
func (f *Feed) restoreVersion(ctx context.Context, limiter *remote.StorageLimiter, storage remote.Storage) {
	if f.isRestored || storage == nil || f.IsFile() {
		return
	}
	if f.Content() != nil {
		f.isRestored = true
		return
	}
	value, err := limiter.Load(ctx, storage, f.storageKey())
	if errors.Is(err, fs.ErrNotExist) {
		f.isRestored = true
		return
	}
	var stored *storedVersion
	var version *Version
	if err == nil {
		f.isRestored = true
		stored, version, err = f.decodeVersion(value)
	}
	if err != nil {
		if u, ok := f.FirstUser().(remoteUser); ok && err.Error() != f.restoreError {
			f.restoreError = err.Error()
			u.Logger.Warn("the stored registry cannot be used", zap.String("registry", f.Name()), zap.Error(err))
		}
		return
	}
	f.storedHash = version.hash
	f.Restore(version, version.hash, stored.FetchedAt, remote.FetchResult{ETag: stored.ETag, LastModified: stored.LastModified})
}

// decodeVersion decodes a stored value and checks that the value belongs to the URL of f.
func (f *Feed) decodeVersion(value []byte) (*storedVersion, *Version, error) {
	r := new(storedVersion)
	if err := json.Unmarshal(value, r); err != nil {
		return nil, nil, err
	}
	if r.URL != f.Name() {
		return nil, nil, fmt.Errorf("the stored registry comes from %s", r.URL)
	}
	if err := remote.VerifyChecksum(r.Data, r.SHA256); err != nil {
		return nil, nil, err
	}
	v, err := f.parseVersion(r.Data, nil)
	return r, v, err
}

// storeVersion stores the version in use, unless that version is stored already.
func (f *Feed) storeVersion(ctx context.Context, user *FeedUser) {
	state := f.State()
	if state.Content == nil || state.Content.hash == f.storedHash {
		return
	}
	stored := storedVersion{URL: f.Name(), FetchedAt: f.Now().UTC(), Data: state.Content.data, SHA256: remote.Checksum(state.Content.data)}
	if state.LastErr == nil { // Otherwise the validators belong to another version.
		stored.ETag, stored.LastModified = state.LastResult.ETag, state.LastResult.LastModified
	}
	value, err := json.Marshal(&stored)
	if err == nil {
		err = user.storageLimiter.Store(ctx, user.Storage, f.storageKey(), value)
	}
	if err == nil {
		f.storedHash = state.Content.hash
	} else if !f.storeFailed {
		user.Logger.Warn("the registry could not be stored; after a restart the guard uses this registry only after a new fetch",
			zap.String("registry", f.Name()), zap.Error(err))
	}
	f.storeFailed = err != nil
}
