package managed

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestStartsBeforeItsNetwork checks that a server that starts without network can load
// neither the storage nor a rule list. The rules of the list are published after the
// storage has come back first, here and at another instance.
func TestStartsBeforeItsNetwork(t *testing.T) {
	t.Parallel()
	origin, say := cms(t)
	say(http.StatusOK, rule("cms", "/cms"))
	storage := filepath.Join(t.TempDir(), "storage")
	start := func(home string) *harness.Server {
		port := harness.FreePort(t)
		s := harness.Run(t, harness.Caddyfile(t, `{
			admin off
			persist_config off
			auto_https off
			storage file_system `+storage+`
		}
		http://a.test:`+port+` {
			robots_txt {
				base none
				disallow CCBot
				rules http://`+origin.Address()+`/rules.json
			}
		}`), harness.Home(home), "127.0.0.1:"+port)
		s.Port = port
		return s
	}
	has := func(s *harness.Server) bool {
		return strings.Contains(harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test")).Body, "Disallow: /cms\n")
	}
	home := t.TempDir()
	first, other := start(home), start(t.TempDir())
	harness.Eventually(t, "both serve the rules of the list", func() bool { return has(first) && has(other) })
	harness.Eventually(t, "the rules are in the history", func() bool {
		stored, err := filepath.Glob(filepath.Join(storage, "robots_guard/v1/managed/*/state.json"))
		return err == nil && len(stored) == 1
	})
	first.Kill()
	say(http.StatusServiceUnavailable, "down")
	away := storage + ".away"
	if err := os.Rename(storage, away); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(storage, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first = start(home)
	if has(first) {
		t.Fatal("the server has loaded the list")
	}
	if err := os.Remove(storage); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, storage); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "it serves the rules of the list", func() bool { return has(first) })
	harness.Eventually(t, "the log says that the history can be read", func() bool {
		return len(first.Lines("the history of a robots_txt can be read and written again")) > 0
	})
	if !has(first) || !has(other) {
		t.Errorf("served here: %t, at the other instance: %t", has(first), has(other))
	}
	matches, err := filepath.Glob(filepath.Join(storage, "robots_guard/v1/managed/*/state.json"))
	if err != nil || len(matches) != 1 {
		t.Fatalf("%q, %v", matches, err)
	}
	if state, err := os.ReadFile(matches[0]); err != nil || !strings.Contains(string(state), `"changes":1,`) {
		t.Errorf("%v: the history is %s", err, state)
	}
}
