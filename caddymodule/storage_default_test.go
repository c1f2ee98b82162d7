package caddymodule

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
)

func init() { caddy.RegisterModule(elsewhere{}) }

// elsewhere is a storage that is not a local directory.
type elsewhere struct{}

func (elsewhere) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.storage.robots_guard_test", New: func() caddy.Module { return new(elsewhere) }}
}

func (elsewhere) CertMagicStorage() (certmagic.Storage, error) {
	return struct{ certmagic.Storage }{&certmagic.FileStorage{Path: caddy.AppDataDir()}}, nil
}

// TestStorageByDefault stores history by default if the storage is local. Otherwise it reports the
// reason.
func TestStorageByDefault(t *testing.T) {
	local := json.RawMessage(`{"module": "file_system", "root": ` + string(mustJSON(t, t.TempDir())) + `}`)
	other := json.RawMessage(`{"module": "robots_guard_test"}`)
	for name, tc := range map[string]struct {
		storage json.RawMessage // nil for Caddy's default storage
		app     string
		kept    bool
	}{
		"Caddy's own":        {nil, `{}`, true},
		"a local directory":  {local, `{}`, true},
		"elsewhere":          {other, `{}`, false},
		"elsewhere, wanted":  {other, `{"storage": true}`, true},
		"local, not wanted":  {local, `{"storage": false}`, false},
		"its own, unwanted":  {nil, `{"storage": false}`, false},
		"local, and wanted":  {local, `{"storage": true}`, true},
		"elsewhere, not any": {other, `{"storage": false}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, err := caddy.ProvisionContext(&caddy.Config{
				Admin:      &caddy.AdminConfig{Disabled: true},
				StorageRaw: tc.storage, AppsRaw: caddy.ModuleMap{"robots_guard": json.RawMessage(tc.app)},
			})
			if err != nil {
				t.Fatal(err)
			}
			running, err := ctx.App("robots_guard")
			if err != nil {
				t.Fatal(err)
			}
			app := running.(*App)
			if err := app.Start(); err != nil {
				t.Fatal(err)
			}
			history := app.state.Reports(time.Now()).History
			if history.SurvivesRestart != tc.kept || (history.Reason == "") != tc.kept {
				t.Errorf("%+v", history)
			}
			if (app.storeStopped != nil) != tc.kept {
				t.Errorf("a store runs: %t", app.storeStopped != nil)
			}
			if err := app.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
