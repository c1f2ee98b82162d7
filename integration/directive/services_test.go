package directive

import (
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestServices sends the requests of ordinary services to a site that disallows all
// crawlers. Most User-Agents are documented by their operators or have a source in the
// registry. A few belong to no known service.
func TestServices(t *testing.T) {
	s := harness.Serve(t, `http://a.test:$PORT {
	robots_guard enforce
	handle /robots.txt {
		respond <<ROBOTS
			User-agent: *
			Disallow: /

			User-agent: CCBot
			Disallow: /.well-known/
			ROBOTS 200
	}
	respond "a page"
}`)
	s.Warm("/")
	status := func(method, userAgent, path string) int {
		t.Helper()
		return harness.Get(t, s.URL(path), userAgent, func(r *http.Request) { r.Method = method }).Status
	}
	for _, userAgent := range []string{
		"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "GitHub-Hookshot/044aadd", "PayPal IPN ( https://www.paypal.com/ipn )",
		"Amazon Simple Notification Service Agent", "Google-Cloud-Tasks", "Svix-Webhooks/1.4", "LineBotWebhook/2.0",
		"Patreon HTTP Robot", "Bitbucket-Webhooks/2.0", "Acme-Webhooks/1.0",
		"Misskey/2024.5.0 (https://misskey.example)", "Lemmy/0.19.5; +https://lemmy.example", "Mastodon/4.3.0 (http.rb/5.2.0; +https://social.example/)",
		"DigiCert DCV Bot/1.1", "Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.letsencrypt.org)", "Sectigo DCV",
		"kube-probe/1.31", "ELB-HealthChecker/2.0", "GoogleHC/1.0", "Edge Health Probe", "Consul Health Check",
		"Mozilla/5.0 (compatible; PRTG Network Monitor (www.paessler.com); Windows)", "AcmeUptimeBot/1.0 (+https://acme.example)",
		"AntennaPod/3.5.0", "kouio.com RSS reader", "Acme RSS/2.0 (+https://acme.example)", "Debian APT-HTTP/1.3 (2.6.1)",
		"com.acme.shop/3.2 CFNetwork/1404.0.5 Darwin/22.3.0", "Dalvik/2.1.0 (Linux; U; Android 13)", "Pinterest for Android/9.0.4 (ACME; 9)",
		"Microsoft-CalDAV/1.0", "git/2.47.0", "VLC/3.0.20 LibVLC/3.0.20",
	} {
		for _, method := range []string{"GET", "POST"} {
			if got := status(method, userAgent, "/callback"); got != http.StatusOK {
				t.Errorf("%s as %s: %d", method, userAgent, got)
			}
		}
	}
	for _, tc := range []struct {
		method, userAgent, path string
		want                    int
	}{
		{"GET", "GPTBot/1.2", "/callback", 403},
		{"POST", "GPTBot/1.2", "/callback", 403},
		{"GET", "FooBot/1.0", "/callback", 403},
		{"HEAD", "FooBot/1.0", "/callback", 403},
		{"POST", "FooBot/1.0", "/callback", 200},
		{"GET", "UptimeRobot/2.0 GPTBot/1.2", "/callback", 403},
		{"GET", "UptimeRobot/2.0 FooBot/1.2", "/callback", 403},
		{"GET", "GPTBot/1.2", "/.well-known/security.txt", 200},
		{"GET", "FooBot/1.2", "/.well-known/webfinger?resource=acct:a@a.test", 200},
		{"GET", "CCBot/2.0", "/.well-known/security.txt", 403},
		{"GET", "GPTBot/1.2", "/.well-known/../callback", 403},
		{"GET", "GPTBot/1.2", "/.well-known/%2e%2e/callback", 403},
		{"GET", "GPTBot/1.2", "/.well-known%2fsecurity.txt", 403},
	} {
		if got := status(tc.method, tc.userAgent, tc.path); got != tc.want {
			t.Errorf("%s %s as %s: %d, want %d", tc.method, tc.path, tc.userAgent, got, tc.want)
		}
	}
}
