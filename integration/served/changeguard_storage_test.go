package served

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestStorageKeepsHeldChanges restarts the server while the change guard holds a
// change.
func TestStorageKeepsHeldChanges(t *testing.T) {
	t.Parallel()
	o, robots := harness.NewChangingOrigin(t, production)
	store := t.TempDir()
	s := harness.ServeReloadable(t, o)
	config := strings.NewReplacer(
		"persist_config off", "persist_config off\n\t"+strings.Replace(harness.StorageOn, "$STORE", store, 1),
		"robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n grace off\n change_guard $FOR\n }",
	).Replace(s.Named("held", ""))
	s.MustLoad(strings.Replace(config, "$FOR", "8s", 1))
	s.Warm("/")
	harness.Get(t, s.URL("/a"), harness.Googlebot)
	robots.Store(staging)
	var line map[string]any
	harness.Eventually(t, "the change is noticed", func() bool {
		harness.Get(t, s.URL("/a"), harness.Googlebot)
		if lines := s.Lines(holdBegins); len(lines) > 0 {
			line = lines[0]
		}
		return line != nil
	})
	seconds, _ := line["until"].(float64)
	until := time.UnixMicro(int64(seconds * 1e6))
	harness.Eventually(t, "the hold is stored", func() bool {
		for _, name := range harness.Stored(t, store, "changes") {
			if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), `"holds"`) {
				return true
			}
		}
		return false
	})
	s.Kill()

	// The next server has a longer hold in its configuration.
	text := strings.Replace(config, "$FOR", "1h", 1)
	again := harness.Start(t, text, "127.0.0.1:"+s.Port)
	again.Port = s.Port
	harness.Eventually(t, "the hold continues or has ended", func() bool {
		restored := again.Lines("change guard: delayed changes were restored from the storage; each stays delayed until its time is over")
		return len(restored) > 0 || time.Now().After(until)
	})
	harness.Eventually(t, "the new robots.txt is in force", func() bool {
		blocked := harness.Get(t, again.URL("/a"), harness.Googlebot).Status == http.StatusForbidden
		if early := time.Until(until); blocked && early > time.Millisecond {
			t.Fatalf("the change takes effect %v too early", early)
		}
		return blocked
	})
	again.Await(holdEnds, 1)
}
