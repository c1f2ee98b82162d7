package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

// record is a text as it is stored.
type record struct {
	Registry     string    `json:"registry"`
	Read         time.Time `json:"read"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Data         []byte    `json:"data"`
	SHA256       string    `json:"sha256,omitempty"` // of these
	Signature    []byte    `json:"signature,omitempty"`
}

// key returns where the registry is stored: what one instance has been told to use the
// others use, too.
func (f *Feed) key() string { return remote.KeyIn("robots_guard/v1/registry", f.Name()) }

// errUnseen is in the error of a storage that does not say what is stored.
var errUnseen = errors.New("the storage does not say it")

// load reads what is stored, nil for nothing.
func (f *Feed) load(ctx context.Context, asking *remote.Asking, storage remote.Storage) (*record, *Text, error) {
	value, err := asking.Load(ctx, storage, f.key())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", errUnseen, err)
	}
	return f.decode(value)
}

// decode reads a stored text, and looks at its signature again: the key may be another.
func (f *Feed) decode(value []byte) (*record, *Text, error) {
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
	if f.Key != nil {
		if err := edition.Verify(f.Key, r.Data, r.Signature); err != nil {
			return nil, nil, err
		}
	}
	t := &Text{hash: sha256.Sum256(r.Data), data: r.Data, signature: r.Signature}
	return r, t, f.understand(t)
}

// restore takes what is stored, and notes whether the storage has told that. f.reading must
// be held.
func (f *Feed) restore(ctx context.Context, storage remote.Storage) {
	r, t, err := f.load(ctx, new(remote.Asking), storage)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unseen = errors.Is(err, errUnseen)
	switch {
	case err != nil:
		if u := f.users.First(); u != nil {
			u.Logger.Warn("what is stored of the registry cannot be used", zap.String("registry", f.Name()), zap.Error(err))
		}
	case t != nil:
		f.good, f.kept, f.checked = t, t.hash, r.Read
		f.last = remote.Answer{ETag: r.ETag, LastModified: r.LastModified}
	}
}

// restoreLate looks once more what is stored where the storage has failed before. What was
// read meanwhile is compared with that, as it would have been. f.reading must be held.
func (f *Feed) restoreLate(ctx context.Context) {
	f.mu.Lock()
	user, unseen := f.users.First(), f.unseen
	f.mu.Unlock()
	if !unseen || user == nil || user.Storage == nil {
		return
	}
	r, stored, err := f.load(ctx, &user.asking, user.Storage)
	f.mu.Lock()
	f.unseen = errors.Is(err, errUnseen)
	if err != nil || stored == nil { // an older edition than the one in use is an error, too
		f.mu.Unlock()
		return
	}
	f.kept = stored.hash
	read, next := f.good, cmp.Or(f.waiting, f.good)
	if next == nil || f.Key != nil && next.Serial < stored.Serial { // which is never used again
		f.checked = r.Read
		if f.wrong == nil { // else the last answer is what is wrong
			f.last = remote.Answer{ETag: r.ETag, LastModified: r.LastModified}
		}
		f.take(stored)
		return
	}
	if f.accepted && f.Key == nil { // what the owner wants since; by a key the serials tell
		f.mu.Unlock()
		return
	}
	var why []string
	if !next.equal(stored) {
		why = suspicionsOf(stored.Edition, next.Edition)
	}
	switch {
	case len(why) == 0 && next.equal(read):
		f.waiting, f.why = nil, nil
		f.mu.Unlock()
		return
	case len(why) == 0:
		f.take(next)
		return
	case !stored.equal(read):
		f.take(stored)
		f.mu.Lock()
	}
	f.hold(next, why, f.Now())
}

// acceptedElsewhere takes the text that waits into use if another instance does. f.reading
// must be held.
func (f *Feed) acceptedElsewhere(ctx context.Context) {
	f.mu.Lock()
	waiting, user := f.waiting, f.users.First()
	f.mu.Unlock()
	if waiting == nil || user == nil || user.Storage == nil {
		return
	}
	if _, t, err := f.load(ctx, &user.asking, user.Storage); err == nil && t.equal(waiting) {
		f.mu.Lock()
		if f.waiting != waiting {
			f.mu.Unlock()
			return
		}
		f.kept = t.hash
		f.take(waiting)
	}
}

// keep stores the text in use unless it is stored already. f.reading must be held.
func (f *Feed) keep(ctx context.Context) {
	f.mu.Lock()
	good, user := f.good, f.users.First()
	r := record{Registry: f.Name(), Read: f.Now().UTC()}
	if f.waiting == nil && f.trouble == nil { // else these are of another text
		r.ETag, r.LastModified = f.last.ETag, f.last.LastModified
	}
	f.mu.Unlock()
	if good == nil || good.hash == f.kept || user == nil || user.Storage == nil {
		return
	}
	r.Data, r.SHA256, r.Signature = good.data, remote.Sum(good.data), good.signature
	value, err := json.Marshal(&r)
	if err == nil {
		err = user.asking.Store(ctx, user.Storage, f.key(), value)
	}
	if err == nil {
		f.kept = good.hash
	} else if !f.unkept {
		user.Logger.Warn("the registry could not be stored; after a restart it has to be read before it is in force",
			zap.String("registry", f.Name()), zap.Error(err))
	}
	f.unkept = err != nil
}
