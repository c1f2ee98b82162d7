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

// record is the stored form of a version.
type record struct {
	Registry     string    `json:"registry"`
	Read         time.Time `json:"read"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Data         []byte    `json:"data"`
	SHA256       string    `json:"sha256,omitempty"` // of Data
}

// key returns the storage key. All instances with the same URL share it.
func (f *Feed) key() string { return remote.KeyIn("robots_guard/v1/registry", f.Name()) }

// restore puts the stored version of a URL into use, if no version is in use. After a
// response of the storage it does nothing. f.reading must be held.
func (f *Feed) restore(ctx context.Context, asking *remote.Asking, storage remote.Storage) {
	if f.restored || storage == nil || f.IsFile() {
		return
	}
	if f.Good() != nil {
		f.restored = true
		return
	}
	value, err := asking.Load(ctx, storage, f.key())
	if errors.Is(err, fs.ErrNotExist) {
		f.restored = true
		return
	}
	var r *record
	var v *Version
	if err == nil {
		f.restored = true
		r, v, err = f.decode(value)
	}
	f.mu.Lock()
	if err != nil {
		if u := f.users.First(); u != nil {
			u.Logger.Warn("the stored registry cannot be used", zap.String("registry", f.Name()), zap.Error(err))
		}
		f.mu.Unlock()
		return
	}
	f.stored, f.checked = v.hash, r.Read
	if f.invalid == nil { // otherwise the validators belong to an invalid response
		f.last = remote.Answer{ETag: r.ETag, LastModified: r.LastModified}
	}
	f.use(v)
}

// decode returns the version of a stored record.
func (f *Feed) decode(value []byte) (*record, *Version, error) {
	r := new(record)
	if err := json.Unmarshal(value, r); err != nil {
		return nil, nil, err
	}
	if r.Registry != f.Name() {
		return nil, nil, fmt.Errorf("it is of %s", r.Registry)
	}
	if err := remote.CheckSum(r.Data, r.SHA256); err != nil {
		return nil, nil, err
	}
	v, err := f.parse(r.Data)
	return r, v, err
}

// store stores the version in use if it is not stored. f.reading must be held.
func (f *Feed) store(ctx context.Context, user *User) {
	f.mu.Lock()
	good := f.good
	r := record{Registry: f.Name(), Read: f.Now().UTC()}
	if f.trouble == nil { // otherwise the validators belong to another version
		r.ETag, r.LastModified = f.last.ETag, f.last.LastModified
	}
	f.mu.Unlock()
	if good == nil || good.hash == f.stored {
		return
	}
	r.Data, r.SHA256 = good.data, remote.Sum(good.data)
	value, err := json.Marshal(&r)
	if err == nil {
		err = user.asking.Store(ctx, user.Storage, f.key(), value)
	}
	if err == nil {
		f.stored = good.hash
	} else if !f.unstored {
		user.Logger.Warn("the registry could not be stored; after a restart it has to be fetched before it is in use",
			zap.String("registry", f.Name()), zap.Error(err))
	}
	f.unstored = err != nil
}
