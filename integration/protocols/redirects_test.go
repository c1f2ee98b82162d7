package protocols

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRedirectsToHTTPS checks a site as in README.md. Caddy makes a site with TLS from
// it, which has the guard, and a redirect to it.
func TestRedirectsToHTTPS(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"guarded": "", "with a robots_txt, reloaded": "header X-Config $NAME\n robots_txt {\n disallow ai_training\n }"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, "User-agent: GPTBot\nDisallow: /\n", nil)
			clear, secure, admin := harness.FreePort(t), harness.FreePort(t), harness.FreePort(t)
			caddyfile := strings.NewReplacer("$CLEAR", clear, "$SECURE", secure, "$ADMIN", admin, "$MORE", more, "$ORIGIN", o.Address()).Replace(`{
				admin 127.0.0.1:$ADMIN
				persist_config off
				skip_install_trust
				storage_clean_interval off
				local_certs
				http_port $CLEAR
				https_port $SECURE
			}
			a.test {
				robots_guard enforce
				$MORE
				reverse_proxy $ORIGIN
			}
			`)
			s := harness.Start(t, strings.ReplaceAll(caddyfile, "$NAME", "first"), "127.0.0.1:"+clear, "127.0.0.1:"+secure)
			if strings.Contains(caddyfile, "$NAME") {
				(&harness.Reloadable{Server: s, Admin: admin}).MustLoad(strings.ReplaceAll(caddyfile, "$NAME", "second"))
			}
			harness.Eventually(t, "a page with TLS", func() bool {
				a, err := harness.Try(harness.Client, "https://a.test:"+secure+"/page", harness.Firefox)
				return err == nil && a.Status == 200
			})
			for url, want := range map[string]int{"https://a.test:" + secure + "/page": 403, "http://a.test:" + clear + "/page": 308} {
				if a, err := harness.Try(harness.Client, url, harness.GPTBot); err != nil || a.Status != want {
					t.Errorf("%s: %+v, %v, want %d", url, a, err, want)
				}
			}
			// The verdict for http is that of the redirect's target.
			response, err := http.Post("http://127.0.0.1:"+admin+"/robots_guard/explain", "application/json",
				strings.NewReader(`{"user_agent": "GPTBot/1.3", "url": "http://a.test/page"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body)
			if !strings.Contains(string(body), `"blocked"`) || !strings.Contains(string(body), "gets a redirect to https://a.test") {
				t.Errorf("explain: %s", body)
			}
			_, stderr, code := harness.Command(t, "", "robots-guard", "status", "--address", "127.0.0.1:"+admin, "--refresh", "http://a.test")
			if code != 2 || !strings.Contains(stderr, "redirects to https://a.test") {
				t.Errorf("status: %d %s", code, stderr)
			}
		})
	}
}
