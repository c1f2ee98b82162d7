package caddymodule

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddy.RegisterModule(unstartable{})
}

// unstartable is an app that fails to start, like a server whose port is in use.
type unstartable struct{}

func (unstartable) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "unstartable", New: func() caddy.Module { return new(unstartable) }}
}

var errUnstartable = errors.New("it cannot be started")

func (unstartable) Start() error { return errUnstartable }
func (unstartable) Stop() error  { return nil }

// loadApp loads a configuration with this app and no site. If broken, an additional app fails to
// start.
func loadApp(t *testing.T, app *App, broken bool) error {
	t.Helper()
	apps := make(map[string]any)
	if app != nil {
		apps["robots_guard"] = app
	}
	if broken {
		apps["unstartable"] = struct{}{}
	}
	config, err := json.Marshal(map[string]any{
		"admin":   map[string]any{"disabled": true, "config": map[string]any{"persist": false}},
		"logging": map[string]any{"logs": map[string]any{"default": map[string]any{"writer": map[string]any{"output": "discard"}}}},
		"apps":    apps,
	})
	if err != nil {
		t.Fatal(err)
	}
	return caddy.Load(config, true)
}

// soon waits until a condition is true.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never happened: %s", what)
}

// TestVerificationOverReloads verifies claims by the running configuration, also after failed
// reloads. Nothing remains at the end.
func TestVerificationOverReloads(t *testing.T) {
	dir := t.TempDir()
	verifying := func(prefix string) *App {
		list := filepath.Join(dir, strings.ReplaceAll(prefix, "/", "-"))
		if err := os.WriteFile(list, []byte(prefix), 0o600); err != nil {
			t.Fatal(err)
		}
		return &App{
			Verify:   &Verify{Ranges: rangesConfigured, NoRDNS: true, WebBotAuth: true},
			Crawlers: []Crawler{{Token: "Googlebot", Ranges: []CrawlerRanges{{File: list}}}},
		}
	}
	identity := func(addr string) string {
		return findRunningApp().state.Identity.Verifier.Check(uaident.Default().Lookup("Googlebot"), netip.MustParseAddr(addr)).State.String()
	}
	const first, second = "192.0.2.1", "198.51.100.1"
	is := func(when, ofFirst, ofSecond string) {
		t.Helper()
		if got := identity(first) + " " + identity(second); got != ofFirst+" "+ofSecond {
			t.Errorf("%s: %s, want %s %s", when, got, ofFirst, ofSecond)
		}
	}
	var running *guard.State
	pooled := func() int { return running.Identity.SignatureVerifierCount() }
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})

	users := func() int {
		n, _ := statePool.References(stateKey) // includes guards of other tests
		return n
	}
	others := users()
	load := func(app *App) {
		t.Helper()
		if err := loadApp(t, app, false); err != nil {
			t.Fatal(err)
		}
	}
	load(verifying("192.0.2.0/24"))
	is("at the start", "verified", "spoofed")
	running = findRunningApp().state
	logs := func() bool { return running.Identity.IsRefreshingLists() }
	soon(t, "the lists are updated", logs)
	before := runtime.NumGoroutine()

	// Apps start in any order, so some attempts fail before this app starts.
	for tries, started := 0, 0; started < 4; tries++ {
		was := running.Identity.ApplyCount()
		app := verifying("198.51.100.0/24")
		if tries%2 == 0 {
			app = new(App) // no verification
		}
		if err := loadApp(t, app, true); err == nil || !strings.Contains(err.Error(), errUnstartable.Error()) {
			t.Fatalf("the configuration was loaded: %v", err)
		}
		is("after one that cannot be started", "verified", "spoofed")
		if running.Identity.ApplyCount() != was {
			started++
		}
		if tries == 1000 {
			t.Fatal("our app was hardly ever started")
		}
	}
	soon(t, "what failed has ended", func() bool { return runtime.NumGoroutine() <= before+3 })
	if !logs() {
		t.Error("OnList is not called any more")
	}

	for i := range 6 {
		load(verifying(fmt.Sprintf("198.51.100.0/%d", 24+i%2)))
		is("after a change", "spoofed", "verified")
	}
	soon(t, "the configurations before have ended", func() bool { return runtime.NumGoroutine() <= before+3 })
	soon(t, "the lists are updated", logs)
	if findRunningApp().state != running {
		t.Error("the state was made anew")
	}
	soon(t, "only the signature verifier in use remains", func() bool { return pooled() == 1 })

	load(new(App))
	is("without verify", "claimed", "claimed")
	soon(t, "the lists are not updated any more", func() bool { return !logs() })
	load(verifying("192.0.2.0/24"))
	is("with verify again", "verified", "spoofed")
	load(nil)
	soon(t, "everything is let go", func() bool { return users() == others && pooled() == 0 })
}
