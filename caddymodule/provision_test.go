package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
)

const (
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	firefox   = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// get returns a request of a client.
func get(userAgent, target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("User-Agent", userAgent)
	return r
}

// servingFile returns a handler that reads this robots.txt from a file.
func servingFile(t *testing.T, h Handler, robots string) *Handler {
	t.Helper()
	file := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(file, []byte(robots), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Source = &Location{File: file}
	h.FetchTimeout, h.FetchWait = caddy.Duration(time.Minute), caddy.Duration(time.Minute)
	return &h
}

// storesNothing returns the app of a configuration without storage. Caddy empties the map, so each
// call returns a new one.
func storesNothing() caddy.ModuleMap {
	return caddy.ModuleMap{"robots_guard": json.RawMessage(`{"storage": false}`)}
}

// provisionedGuard returns the guard of a handler in a configuration with this app. A non-nil app
// also applies its verify settings.
func provisionedGuard(t *testing.T, h *Handler, app *App) *guard.Guard {
	t.Helper()
	// The app is not started, so requests would wait for stored data.
	config := &caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}, AppsRaw: storesNothing()}
	if app != nil {
		app.Storage = new(bool)
		raw, err := json.Marshal(app)
		if err != nil {
			t.Fatal(err)
		}
		config.AppsRaw = caddy.ModuleMap{"robots_guard": raw}
	}
	ctx, err := caddy.ProvisionContext(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	if app != nil {
		running, err := UseApp(ctx)
		if err != nil {
			t.Fatal(err)
		}
		stop, err := running.state.Identity.ApplyConfig(running.verifierConfig(running.currentRegistry.Load()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
	return h.guard
}
