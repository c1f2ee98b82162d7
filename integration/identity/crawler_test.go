package identity

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	acmeUA      = "AcmeBot/1.0 (+https://acme.example/bot)"
	ownersRobot = `User-agent: Googlebot
Disallow: /google-not/

User-agent: *
Disallow: /others-not/
`
)

// describedCrawlers describes crawlers that the registry lacks, and registered
// crawlers.
const describedCrawlers = `robots_guard {
	crawler AcmeBot
	crawler AcmeTrainer {
		class ai_training
	}
	crawler AcmePreview {
		class preview
	}
	crawler AcmeFallback {
		fallback Bytespider Googlebot
	}
	crawler AcmeSpared {
		wildcard off
	}
	crawler AcmeJudged {
		class preview
		wildcard on
	}
	crawler "Acme web spider" {
		class seo
	}
	crawler UptimeRobot {
		class ai_training
	}
	crawler bingbot {
		fallback Googlebot
	}
	crawler Baiduspider {
		wildcard off
	}
}`

// TestCrawlerOptions sends requests of crawlers that the configuration describes.
func TestCrawlerOptions(t *testing.T) {
	t.Parallel()
	site := "http://$HOST:$PORT {\n header >X-Class \"{http.robots_guard.crawler} {http.robots_guard.class} {http.robots_guard.verdict}\"\n" +
		" robots_guard enforce {\n  $OPTIONS\n }\n respond /robots.txt `" + ownersRobot + "`\n respond page\n}\n"
	s := harness.Serve(t, strings.NewReplacer("$HOST", "a.test", "$OPTIONS", "").Replace(site)+
		strings.NewReplacer("$HOST", "wildcard.test", "$OPTIONS", "wildcard crawler").Replace(site), "$GLOBAL", describedCrawlers)
	s.Warm("/", "http://wildcard.test/")
	for _, row := range []struct {
		name, host, userAgent string
		google, others        string // responses for /google-not/ and /others-not/: the placeholders, or "403"
	}{
		{"not described", "a.test", "NewBot/1.0 (+https://new.example/bot)", "NewBot crawler allowed", "403"},
		{"with a name only", "a.test", acmeUA, "AcmeBot crawler allowed", "403"},
		{"a class to which * applies", "a.test", "AcmeTrainer/1.0", "AcmeTrainer ai_training allowed", "403"},
		{"a class to which * does not apply", "a.test", "AcmePreview/1.0", "AcmePreview preview exempt", "AcmePreview preview exempt"},
		{"a fallback", "a.test", "AcmeFallback/1.0", "403", "AcmeFallback crawler allowed"},
		{"wildcard off", "a.test", "AcmeSpared/1.0", "AcmeSpared crawler exempt", "AcmeSpared crawler exempt"},
		{"wildcard off, but the site applies * to its class", "wildcard.test", "AcmeSpared/1.0", "AcmeSpared crawler exempt", "AcmeSpared crawler exempt"},
		{"wildcard on", "a.test", "AcmeJudged/1.0", "AcmeJudged preview allowed", "403"},
		{"another class for a known crawler", "a.test", harness.UptimeRobot, "UptimeRobot ai_training allowed", "403"},
		{"another fallback for a known crawler", "a.test", harness.Bingbot, "403", "bingbot search allowed"},
		{"wildcard off for a known crawler", "a.test", harness.Baiduspider, "Baiduspider search exempt", "Baiduspider search exempt"},
		{"a name of several words", "a.test", "Acme web spider/4.0", "Acme web spider seo allowed", "403"},
	} {
		for path, want := range map[string]string{"/google-not/x": row.google, "/others-not/x": row.others} {
			a := harness.Get(t, s.URL("http://"+row.host+path), row.userAgent)
			got := a.Header.Get("X-Class")
			if a.Status == 403 {
				got = "403"
			}
			if got != want {
				t.Errorf("%s, %s: got %d %q, want %q", row.name, path, a.Status, got, want)
			}
		}
	}
}

// TestCrawlerOverReload checks that a reload changes the identification of a crawler,
// including at sites whose robots.txt is cached.
func TestCrawlerOverReload(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: Googlebot\nDisallow: /google-not/\n\nUser-agent: Acme Scout\nDisallow: /scouts-not/\n\nUser-agent: *\nDisallow: /others-not/\n", nil)
	s := harness.ServeReloadable(t, o)
	s.Warm("/")
	const scout = "Acme Scout/2.0"
	for _, row := range []struct {
		name, crawlers, userAgent string
		path                      string
		status                    int
	}{
		{"not described", "", acmeUA, "/google-not/x", 200},
		{"added, with a fallback", "crawler AcmeBot {\n fallback Googlebot\n}", acmeUA, "/google-not/x", 403},
		{"another class", "crawler AcmeBot {\n class preview\n}", acmeUA, "/others-not/x", 200},
		{"removed", "", acmeUA, "/others-not/x", 403},
		{"a name that robots.txt also contains", "crawler \"Acme Scout\" {\n class seo\n fallback Googlebot\n}", scout, "/scouts-not/x", 403},
		{"the same without the * group", "crawler \"Acme Scout\" {\n wildcard off\n}", scout, "/others-not/x", 200},
		{"removed, but named by robots.txt", "", scout, "/scouts-not/x", 403},
	} {
		config := s.Named(row.name, "")
		if row.crawlers != "" {
			config = strings.Replace(config, "persist_config off", "persist_config off\n robots_guard {\n"+row.crawlers+"\n}", 1)
		}
		if status, body := s.Load(config); status != 200 {
			t.Fatalf("%s: %d %s", row.name, status, body)
		}
		if a := harness.Get(t, s.URL(row.path), row.userAgent); a.Status != row.status || a.Status == 200 && a.Header.Get("X-Config") != row.name {
			t.Errorf("%s: got %d by %q, want %d", row.name, a.Status, a.Header.Get("X-Config"), row.status)
		}
	}
}
