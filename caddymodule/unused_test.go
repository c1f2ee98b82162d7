package caddymodule

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// TestUnused checks the warnings about a global option without a directive or matcher that uses it.
func TestUnused(t *testing.T) {
	for name, tc := range map[string]struct {
		option, site string
		warning      string // "" for none
	}{
		"alone":          {"policies 5", "respond ok", "has no effect without the directive"},
		"with a guard":   {"policies 5", "robots_guard", ""},
		"with a matcher": {"policies 5", "@bots robots_crawler\n respond @bots no", ""},
		"with a page":    {"policies 5", "robots_guard_dashboard public", ""},

		"verify alone":                              {"verify on", "respond ok", "has no effect without the directive"},
		"verify with a guard":                       {"verify on", "robots_guard", ""},
		"verify with a matcher of an identity":      {"verify on", "@bots robots_crawler verified\n respond @bots no", ""},
		"verify with a matcher without an identity": {"verify on", "@bots robots_crawler\n respond @bots no", "verify has no effect"},
		"verify with a page":                        {"verify on", "robots_guard_dashboard public", "verify has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte("{\n robots_guard {\n "+tc.option+"\n storage off\n }\n}\nhttp://localhost:8099 {\n "+tc.site+"\n}\n"), nil)
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
			var cancel context.CancelFunc
			app.ctx, cancel = caddy.NewContext(app.ctx)
			defer cancel()
			if err := app.Start(); err != nil {
				t.Fatal(err)
			}
			if err := app.Stop(); err != nil {
				t.Error(err)
			}
			log, _ := os.ReadFile(file) // missing before the first line
			for _, warning := range []string{"has no effect without the directive", "verify has no effect"} {
				if warns := strings.Contains(string(log), warning); warns != (warning == tc.warning) {
					t.Errorf("%q is in the log: %t; the log:\n%s", warning, warns, log)
				}
			}
		})
	}
}
