package caddymodule

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// TestFailedConfigurationIsFreed loads a failing configuration while another one runs with
// the same registry. The garbage collector must free the first one.
func TestFailedConfigurationIsFreed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.json")
	if err := os.WriteFile(path, []byte(`{"crawlers": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	load := func() (u *registryInUse, end func()) {
		t.Helper()
		one, cancel := caddy.NewContext(ctx)
		u, err := provisionRegistry(one, &Registry{From: path}, nil, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		return u, cancel
	}
	running, end := load()
	defer end()
	failed := func() weak.Pointer[registryInUse] {
		u, end := load()
		end()
		return weak.Make(u)
	}()
	for range 100 {
		if runtime.GC(); failed.Value() == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if failed.Value() != nil {
		t.Error("the failed configuration is not freed")
	}
	runtime.KeepAlive(running)
}
