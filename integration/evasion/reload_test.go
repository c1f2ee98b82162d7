package evasion

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestEvasionReloads requests disallowed pages at a high rate during reloads. The
// configurations have different settings and sites, and some of them fail to load. The
// site has a guard in all of them, so no page may be served, including during the
// switch.
func TestEvasionReloads(t *testing.T) {
	t.Parallel()
	o := secretive(t)
	s := harness.ServeReloadable(t, o)
	s.Warm("/")
	var stop atomic.Bool
	var refusals, broken atomic.Int64
	var traffic sync.WaitGroup
	ask := func(path, userAgent string, change ...func(*http.Request)) {
		traffic.Go(func() {
			for !stop.Load() {
				a, err := harness.Try(harness.Client, s.URL(path), userAgent, change...)
				if err != nil {
					broken.Add(1) // Caddy resets some connections during a reload
					continue
				}
				refusals.Add(1)
				if a.Status != 403 || strings.Contains(a.Body, "SECRET") || strings.Contains(a.Body, "origin") {
					t.Errorf("%s as %.60q: got %d %.100q", path, userAgent, a.Status, a.Body)
					return
				}
			}
		})
	}
	ask("/private/x", harness.Bingbot)
	ask("/private/%78", harness.Googlebot, harness.Header("Cache-Control", "no-cache"))
	ask("/page/../private//x", harness.Bingbot, harness.Method(http.MethodHead))
	ask("/page", harness.GPTBot)
	ask("/page", harness.Firefox+" GPTBot/1.3")
	ask("/page?x", "gptbot", harness.Method(http.MethodPost))
	for i := range 40 {
		var config string
		switch i % 5 {
		case 0:
			config = s.Named("plain", "")
		case 1:
			config = strings.Replace(s.Named("settings", ""), "robots_guard enforce", "robots_guard enforce {\n fetch_wait 1s\n ttl 1m 1h\n grace 1h\n }", 1)
		case 2:
			config = s.Named("neighbours", "") + fmt.Sprintf("http://b%d.test:%s, http://*.c.test:%s {\n robots_guard monitor\n respond b\n}\n", i, s.Port, s.Port)
		case 3:
			config = strings.Replace(s.Named("crawlers", ""), "persist_config off", fmt.Sprintf("persist_config off\n robots_guard {\n policies %d\n crawler X%dBot {\n class seo\n }\n }", 10+i, i), 1)
		case 4: // cannot start: the address is not available
			config = s.Named("fails", "") + fmt.Sprintf("http://:%s {\n bind 192.0.2.1\n robots_guard enforce\n}\n", harness.FreePort(t))
		}
		if status, body := s.Load(config); (status == 200) == (i%5 == 4) {
			t.Errorf("load %d: %d %s", i, status, body)
		}
	}
	stop.Store(true)
	traffic.Wait()
	t.Logf("%d requests refused, %d connections broken", refusals.Load(), broken.Load())
	if refusals.Load() < 100 {
		t.Errorf("only %d requests were made", refusals.Load())
	}
}
