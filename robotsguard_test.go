package robotsguard

import (
	"reflect"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// TestModuleIDs checks the name of each module of this project. Module IDs are global:
// Caddy panics at start if two modules that are built in have the same one.
func TestModuleIDs(t *testing.T) {
	const own = "github.com/robotsguard/caddy-robots-guard"
	found := 0
	for _, id := range caddy.Modules() {
		info, err := caddy.GetModule(id)
		if err != nil {
			t.Fatal(err)
		}
		if module := reflect.Indirect(reflect.ValueOf(info.New())); !strings.HasPrefix(module.Type().PkgPath(), own) {
			continue
		}
		found++
		if !strings.HasPrefix(info.ID.Name(), "robots_") {
			t.Errorf("module %s: its name does not begin with robots_", id)
		}
	}
	if found < 8 {
		t.Errorf("%d modules found, want all", found)
	}
}
