package store

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// replacing is a storage in a file system. During a listing, another process creates and removes a
// temporary file.
type replacing struct {
	*storetest.Storage
	kind  string // kind of the affected directories
	times int    // number of affected listings
}

func (r *replacing) List(ctx context.Context, directory string, recursive bool) ([]string, error) {
	names, err := r.Storage.List(ctx, directory, recursive)
	if err != nil || r.times == 0 || !strings.HasSuffix(directory, "/"+r.kind) {
		return names, err
	}
	r.times--
	return names[:0], &fs.PathError{Op: "lstat", Path: "/var/lib/caddy/" + directory + "/1931319445", Err: fs.ErrNotExist}
}

// TestListWhileAnotherWrites does not treat a directory as empty if a file is removed during a
// listing. Otherwise stored values would be overwritten.
func TestListWhileAnotherWrites(t *testing.T) {
	for name, times := range map[string]int{"once": 1, "all the time": 1000} {
		t.Run(name, func(t *testing.T) {
			ctx, m := t.Context(), storetest.New()
			m.Now = noon
			first := newInstance(m, "first", noon)
			first.readLedger(ctx)
			first.ask("a.test", 3)
			first.writeLedger(ctx)
			stored := m.WriteAttempts

			again := newInstance(m, "first", noon.Add(time.Hour))
			storage := &replacing{m, kindLedger, times}
			again.storage = storage
			again.readLedger(ctx)
			again.ask("a.test", 1)
			again.writeLedger(ctx)
			if got := again.shown(); times == 1 && got != "map[a.test:4]" {
				t.Errorf("got %s", got)
			}
			if times > 1 && m.WriteAttempts != stored {
				t.Error("what could not be read was replaced")
			}
			storage.times = 0
			again.readLedger(ctx)
			again.writeLedger(ctx)
			third := newInstance(m, "first", noon.Add(2*time.Hour))
			third.readLedger(ctx)
			if got := third.shown(); got != "map[a.test:4]" {
				t.Errorf("after another restart: %s", got)
			}
		})
	}
}
