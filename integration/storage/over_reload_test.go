package storage

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestStorageReload switches the storage on and off while the server runs. The state
// survives both.
func TestStorageReload(t *testing.T) {
	t.Parallel()
	var changed atomic.Bool
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" || !changed.Load() {
			return false
		}
		_, _ = io.WriteString(w, harness.ClosedRobots+"# changed\n")
		return true
	})
	store := t.TempDir()
	s := harness.ServeReloadable(t, o)
	s.Warm("/")
	on := strings.Replace(s.Named("on", ""), "persist_config off", "persist_config off\n\t"+strings.Replace(harness.StorageOn, "$STORE", store, 1), 1)
	off := strings.Replace(on, "storage on", "storage off", 1)
	blocks := func() {
		t.Helper()
		harness.Visits(t, s.Server, []harness.Visit{{harness.Bingbot, "/private/x", 403, "Disallow: /private/"}})
	}
	for range 2 {
		if status, body := s.Load(on); status != 200 {
			t.Fatalf("reload: %d %s", status, body)
		}
		blocks()
		awaitStored(t, store, 1)
		if status, body := s.Load(off); status != 200 {
			t.Fatalf("reload: %d %s", status, body)
		}
		blocks()
		if err := os.RemoveAll(filepath.Join(store, "robots_guard")); err != nil {
			t.Fatal(err)
		}
		before := o.Requests("/robots.txt")
		changed.Store(!changed.Load())
		if a := harness.Get(t, "http://127.0.0.1:"+s.Admin+"/robots_guard/policies/a.test:"+s.Port+"/refresh", "", harness.Method(http.MethodPost)); a.Status != http.StatusOK {
			t.Fatalf("refresh: %d %s", a.Status, a.Body)
		}
		harness.Eventually(t, "the site is read again", func() bool {
			blocks()
			return o.Requests("/robots.txt") > before
		})
	}
	time.Sleep(3 * time.Second) // longer than the delay of a write
	if n := len(stored(t, store)); n != 0 {
		t.Errorf("%d policies are stored although the storage is off", n)
	}
}

// TestStorageReloads reloads several times with storage on. Each configuration ends
// before or while it loads the stored data.
func TestStorageReloads(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	store := t.TempDir()
	s := harness.ServeReloadable(t, o)
	s.Warm("/")
	on := func(name string) string {
		return strings.Replace(s.Named(name, ""), "persist_config off", "persist_config off\n\t"+strings.Replace(harness.StorageOn, "$STORE", store, 1), 1)
	}
	load := func(name string) {
		if status, body := s.Load(on(name)); status != 200 {
			t.Fatalf("reload: %d %s", status, body)
		}
	}
	for i := range 4 { // the first reloads may leave goroutines that are not leaks
		load(fmt.Sprint("before ", i))
	}
	awaitStored(t, store, 1)
	before := s.Metrics()["go_goroutines"]
	for i := range 40 {
		load(fmt.Sprint(i))
		harness.Visits(t, s.Server, []harness.Visit{{harness.Bingbot, "/private/x", 403, "Disallow: /private/"}})
	}
	if n := len(stored(t, store)); n != 1 {
		t.Errorf("%d policies are stored, want 1", n)
	}
	harness.Eventually(t, fmt.Sprintf("no more goroutines than the %v before", before), func() bool {
		return s.Metrics()["go_goroutines"] <= before+10
	})
}
