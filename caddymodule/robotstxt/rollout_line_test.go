package robotstxt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// TestLineOfRollout checks that the error for an invalid rollout has the Caddyfile line, also with
// many sites.
func TestLineOfRollout(t *testing.T) {
	for rollout, want := range map[string]string{
		"hosts shop.test": `rollout: this site has no host "shop.test"; it has b.test, at Caddyfile:9`,
		"shadow 1h":       "or use another rollout, at Caddyfile:9",
		"hosts b.test":    "",
	} {
		text := strings.Replace(`http://a.test:9180 {
	robots_txt {
		disallow GPTBot
	}
}
http://b.test:9180 {
	robots_txt {
		disallow GPTBot
		rollout $ROLLOUT
	}
}
`, "$ROLLOUT", rollout, 1)
		adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
		if err != nil {
			t.Fatalf("%s: %v", rollout, err)
		}
		var config caddy.Config
		if err := json.Unmarshal(adapted, &config); err != nil {
			t.Fatal(err)
		}
		config.Admin = &caddy.AdminConfig{Disabled: true}
		config.StorageRaw = json.RawMessage(`{"module": "file_system", "root": ` + string(caddyconfig.JSON(t.TempDir(), nil)) + `}`)
		if err := caddy.Validate(&config); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rollout, err, want)
		}
	}
}
