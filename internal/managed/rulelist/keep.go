package rulelist

import (
	"cmp"
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
	v, last, err := l.decode(value, err)
	if err != nil && !(unseen && l.looked) { // which was told
		l.warn("what is stored of a list of rules cannot be used", err)
	}
	l.looked = true
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unseen = unseen
	if v != nil {
		l.kept = v.hash
		l.takeStored(v, last)
	}
}

// takeStored takes a version that was stored with this answer. What was read before is
// compared with it, as it would have been. l.mu must be held.
func (l *List) takeStored(v *Version, last remote.Answer) {
	read, wrong := cmp.Or(l.waiting, l.good), l.wrong
	l.good = v
	if read == nil {
		if l.wrong.kind == fine { // else the last answer is what is wrong
			l.last = last
		}
		return
	}
	if l.wrong.kind == shrunk {
		l.wrong = trouble{}
	}
	if l.take(read); wrong.kind == unusable { // what the server has said since
		l.wrong = wrong
	}
}

// restoreLate looks what is stored where nobody has yet, or the storage has failed. l.reading
// must be held.
func (l *List) restoreLate(ctx context.Context) {
	l.mu.Lock()
	user := l.users.First()
	unseen := l.unseen && user != nil && user.Storage != nil
	l.mu.Unlock()
	if !unseen {
		return
	}
	if l.restore(ctx, &user.asking, user.Storage); l.isUnseen() {
		return
	}
	l.mu.Lock()
	l.tell(true, false) // also where nothing is stored: it is known now
}

// isUnseen reports whether it is not known yet what is stored of the list: nobody has looked, or
// the storage fails.
func (l *List) isUnseen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unseen
}

// decode reads what the storage has told, nil for nothing.
func (l *List) decode(value []byte, err error) (v *Version, last remote.Answer, _ error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, last, nil
	case err != nil:
		return nil, last, err
	}
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, last, err
	}
	if r.List != l.source.Name() {
		return nil, last, fmt.Errorf("it is of %s", r.List)
	}
	if err := remote.CheckSum(r.Data, r.SHA256); err != nil {
		return nil, last, err
	}
	v, err = l.parse(r.Data)
	return v, remote.Answer{ETag: r.ETag, LastModified: r.LastModified}, err
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
