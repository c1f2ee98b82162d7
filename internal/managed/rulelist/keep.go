package rulelist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// Storage is where the last good version of a list at a URL outlives a restart. What
// is not there is [fs.ErrNotExist].
type Storage interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
}

// How long the storage may take: while a configuration is loaded, and later.
const (
	loadTime  = 2 * time.Second
	storeTime = 10 * time.Second
)

// record is a version as it is stored.
type record struct {
	List         string    `json:"list"`
	Read         time.Time `json:"read"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Data         []byte    `json:"data"`
}

// key returns where the list is stored. All instances share it: each has read it from
// the same place.
func (l *List) key() string {
	hash := sha256.Sum256([]byte(l.source.Name()))
	return "robots_guard/v1/managed/lists/" + hex.EncodeToString(hash[:16]) + ".json"
}

// restore takes what is stored. l.reading must be held.
func (l *List) restore(ctx context.Context, storage Storage) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	type loaded struct {
		value []byte
		err   error
	}
	done := make(chan loaded, 1)
	go func() { // a storage may not look at ctx
		value, err := storage.Load(ctx, l.key())
		done <- loaded{value, err}
	}()
	select {
	case got := <-done:
		if err := l.restoreFrom(got.value, got.err); err != nil {
			l.warn("what is stored of a list of rules cannot be used", err)
		}
	case <-ctx.Done():
		l.warn("what is stored of a list of rules cannot be used", errors.New("the storage has not answered in time"))
	}
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
	good, user := l.good, l.first()
	r := record{List: l.source.Name(), Read: l.now().UTC()}
	if l.waiting == nil && l.wrong.kind == fine { // else these are of another version
		r.ETag, r.LastModified = l.last.ETag, l.last.LastModified
	}
	l.mu.Unlock()
	if good == nil || good.hash == l.kept || user == nil || user.Storage == nil {
		return
	}
	r.Data = good.data
	value, err := json.Marshal(&r)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, storeTime)
		defer cancel()
		err = user.Storage.Store(ctx, l.key(), value)
	}
	if err == nil {
		l.kept = good.hash
	} else if !l.unkept {
		user.Logger.Warn("a list of rules could not be stored; after a restart it has to be read before its rules are in force",
			zap.String("rules", l.source.Name()), zap.Error(err))
	}
	l.unkept = err != nil
}

// first returns the user that tells the owner, nil for none. l.mu must be held.
func (l *List) first() *User {
	if len(l.users) == 0 {
		return nil
	}
	return l.users[0]
}

// warn tells the owner.
func (l *List) warn(message string, err error) {
	l.mu.Lock()
	user := l.first()
	l.mu.Unlock()
	if user != nil {
		user.Logger.Warn(message, zap.String("rules", l.source.Name()), zap.Error(err))
	}
}
