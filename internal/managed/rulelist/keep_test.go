package rulelist

import (
	"context"
	"encoding/json"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// TestDamagedRules takes no rules from the storage that were not read so, although they are
// rules still. What was stored without a checksum counts as it did.
func TestDamagedRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*record)
		want   string
	}{
		{"whole", func(*record) {}, "a b"},
		{"damaged", func(r *record) { r.Data = []byte(list("a", "c")) }, "nothing"},
		{"of an earlier version", func(r *record) { r.SHA256 = "" }, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				r := read(t, storage, list("a", "b"), nil)
				next(time.Minute)
				r.end()
				value, err := storage.Load(t.Context(), r.key())
				var stored record
				if err != nil || json.Unmarshal(value, &stored) != nil || stored.SHA256 == "" {
					t.Fatalf("%v: stored is %s", err, value)
				}
				c.damage(&stored)
				value, _ = json.Marshal(stored)
				storage.Damage(string(value))
				r = read(t, storage, "", errDown)
				r.has(t, c.want)
				r.end()
			})
		})
	}
}

// TestStoredVersionIsOlder keeps what is known where a configuration turns the storage on:
// what is there may be from long before.
func TestStoredVersionIsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, list("a"), nil)
		next(time.Minute)
		r.end()

		r = read(t, nil, list("b", "c"), nil)
		r.source.Say("", errDown)
		r.Load(t.Context(), new(int), storage)
		r.has(t, "b c")
		r.end()
	})
}

// hanging is a storage that answers nothing before it is told to, whatever is asked.
type hanging struct {
	asked  atomic.Int32
	answer chan struct{}
}

func (h *hanging) Store(context.Context, string, []byte) error {
	h.asked.Add(1)
	<-h.answer
	return nil
}

func (h *hanging) Load(context.Context, string) ([]byte, error) { return nil, fs.ErrNotExist }

// TestHangingStorage asks a storage that hangs for a day one thing, and not one each minute,
// with a goroutine and a list for each.
func TestHangingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &hanging{answer: make(chan struct{})}
		r := read(t, storage, list("a"), nil)
		next(24 * time.Hour)
		if n := storage.asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		close(storage.answer)
		next(2 * time.Minute)
		if n := storage.asked.Load(); n != 2 {
			t.Errorf("it was asked %d times once it has answered", n-1)
		}
		r.end()
	})
}

// TestLoadWhileItIsRead keeps no configuration from being loaded while a server takes its
// time for an answer in the background.
func TestLoadWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newList(remotetest.Slow{Source: remotetest.NewSource("https://cms.test/rules", list("a"), nil)}, time.Now)
		remotetest.LoadsInTime(t, r.Run, func(ctx context.Context) { r.Load(ctx, new(int), nil) })
		if r.Good() == nil {
			t.Error("it is never read")
		}
	})
}
