package caddymodule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// TestUnused has the global option alone, which people take for a guard of all sites, and
// with what goes by it.
func TestUnused(t *testing.T) {
	for name, tc := range map[string]struct {
		site  string
		warns bool
	}{
		"alone":          {"respond ok", true},
		"with a guard":   {"robots_guard", false},
		"with a matcher": {"@bots robots_crawler\n respond @bots no", false},
		"with a page":    {"robots_guard_dashboard public", false},
	} {
		t.Run(name, func(t *testing.T) {
			adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte("{\n robots_guard {\n policies 5\n storage off\n }\n}\nhttp://localhost:8099 {\n "+tc.site+"\n}\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var config caddy.Config
			decodeJSON(t, string(adapted), &config)
			config.Admin = &caddy.AdminConfig{Disabled: true}
			file := filepath.Join(t.TempDir(), "log")
			decodeJSON(t, `{"logs": {"default": {"writer": {"output": "file", "roll": false, "filename": `+string(caddyconfig.JSON(file, nil))+`}}}}`, &config.Logging)
			config.StorageRaw = json.RawMessage(`{"module": "file_system", "root": ` + string(caddyconfig.JSON(t.TempDir(), nil)) + `}`)
			ctx, err := caddy.ProvisionContext(&config)
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
			if err := app.Stop(); err != nil {
				t.Error(err)
			}
			log, _ := os.ReadFile(file) // there is none before the first line
			if warns := strings.Contains(string(log), "guards no site by itself"); warns != tc.warns {
				t.Errorf("it is told: %t; the log:\n%s", warns, log)
			}
		})
	}
}
