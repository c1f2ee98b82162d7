package managed

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestBaseFailsAfterRestart checks that the last good base survives a kill of the
// process, even if the storage is off for other data. Whatever the site then responds,
// the robots.txt consists of the last good base and the rules, and is never stricter.
func TestBaseFailsAfterRestart(t *testing.T) {
	t.Parallel()
	const private = "User-agent: *\nDisallow: /private/\n"
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"500": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "User-agent: *\nDisallow: /\n", 500) },
		"a web page": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<!doctype html><html>%s</html>", time.Now())
		},
		"silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		for _, storage := range []string{"on", "off"} {
			t.Run(name+", storage "+storage, func(t *testing.T) {
				t.Parallel()
				var fails atomic.Bool
				o := harness.NewOrigin(t, private, func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != "/robots.txt" || !fails.Load() {
						return false
					}
					answer(w, r)
					return true
				})
				store, home := t.TempDir(), t.TempDir()
				start := func() *harness.Server {
					return harness.ServeWith(t, []string{"XDG_DATA_HOME=" + home}, `http://a.test:$PORT {
						robots_txt {
							disallow GPTBot
						}
						reverse_proxy $ORIGIN
					}`, "$GLOBAL", strings.ReplaceAll(harness.StorageOn, "storage on", "storage "+storage), "$STORE", store, "$ORIGIN", o.Address())
				}
				read := func(s *harness.Server) harness.Answer {
					return harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, func(r *http.Request) { r.Host = "a.test" })
				}
				first := start()
				var before string
				harness.Eventually(t, "the rules are published", func() bool { // does not wait for a slow storage
					before = read(first).Body
					return strings.Contains(before, "Disallow: /private/") && strings.Contains(before, "User-agent: GPTBot\nDisallow: /\n")
				})
				isBase := func(file string) bool { return strings.HasPrefix(filepath.Base(file), "base-") }
				harness.Eventually(t, "the base is stored", func() bool { return slices.ContainsFunc(harness.Stored(t, store, "policies"), isBase) })
				if files := harness.Stored(t, store, "policies"); storage == "off" && len(files) != 1 {
					t.Errorf("stored files are %q, want only the base", files)
				}
				first.Kill()
				fails.Store(true)
				second := start()
				if after := read(second); after.Status != 200 || after.Body != before {
					t.Errorf("after the restart: %d %q, want %q", after.Status, after.Body, before)
				}
				second.Kill()
			})
		}
	}
}
