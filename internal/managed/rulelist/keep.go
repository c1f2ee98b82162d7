package rulelist

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

// record is a version as it is stored.
type record struct {
	List         string    `json:"list"`
	Read         time.Time `json:"read"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Data         []byte    `json:"data"`
	SHA256       string    `json:"sha256,omitempty"` // of these
}

func (l *List) key() string { return remote.KeyIn("robots_guard/v1/managed/lists", l.source.Name()) }

// restore takes what is stored, and notes whether the storage has told that. l.reading must
// be held.
func (l *List) restore(ctx context.Context, asking *remote.Asking, storage remote.Storage) {
	value, err := asking.Load(ctx, storage, l.key())
	unseen := err != nil && !errors.Is(err, fs.ErrNotExist)
	if err = l.restoreFrom(value, err); err != nil && !(unseen && l.Unseen()) { // which was told
		l.warn("what is stored of a list of rules cannot be used", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unseen = unseen
}

// restoreLate looks once more what is stored where the storage has failed before. What was
// read meanwhile is compared with that. l.reading must be held.
func (l *List) restoreLate(ctx context.Context) {
	l.mu.Lock()
	user, read, last := l.users.First(), l.good, l.last
	unseen := l.unseen && user != nil && user.Storage != nil
	l.mu.Unlock()
	if !unseen {
		return
	}
	if l.restore(ctx, &user.asking, user.Storage); l.Unseen() {
		return
	}
	l.mu.Lock()
	if read != nil {
		l.last = last
		l.take(read)
	}
	l.tell(true, false) // also where nothing is stored: it is known now
}

// Unseen reports whether it is not known yet what is stored of the list, since the storage
// fails.
func (l *List) Unseen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unseen
}

func (l *List) restoreFrom(value []byte, err error) error {
	var r record
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return err
	}
	if r.List != l.source.Name() {
		return fmt.Errorf("it is of %s", r.List)
	}
	if err := remote.CheckSum(r.Data, r.SHA256); err != nil {
		return err
	}
	v, err := l.parse(r.Data)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good, l.kept = v, v.hash
	l.last = remote.Answer{ETag: r.ETag, LastModified: r.LastModified}
	return nil
}

// keep stores the version in use unless it is stored already. l.reading must be held.
func (l *List) keep(ctx context.Context) {
	l.mu.Lock()
	good, user := l.good, l.users.First()
	r := record{List: l.source.Name(), Read: l.now().UTC()}
	if l.waiting == nil && l.wrong.kind == fine { // else these are of another version
		r.ETag, r.LastModified = l.last.ETag, l.last.LastModified
	}
	l.mu.Unlock()
	if good == nil || good.hash == l.kept || user == nil || user.Storage == nil {
		return
	}
	r.Data, r.SHA256 = good.data, remote.Sum(good.data)
	value, err := json.Marshal(&r)
	if err == nil {
		err = user.asking.Store(ctx, user.Storage, l.key(), value)
	}
	if err == nil {
		l.kept = good.hash
	} else if !l.unkept {
		user.Logger.Warn("a list of rules could not be stored; after a restart it has to be read before its rules are in force",
			zap.String("rules", l.source.Name()), zap.Error(err))
	}
	l.unkept = err != nil
}

// warn tells the owner.
func (l *List) warn(message string, err error) {
	l.mu.Lock()
	user := l.users.First()
	l.mu.Unlock()
	if user != nil {
		user.Logger.Warn(message, zap.String("rules", l.source.Name()), zap.Error(err))
	}
}
