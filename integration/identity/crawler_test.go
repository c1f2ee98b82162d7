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

// crawlerSite is a site whose owner tells about a crawler.
const crawlerSite = "http://a.test:$PORT {\n header >X-Class \"{http.robots_guard.crawler} {http.robots_guard.class} {http.robots_guard.verdict}\"\n" +
	" robots_guard enforce {\n  $OPTIONS\n }\n respond /robots.txt `" + ownersRobot + "`\n respond page\n}"

// TestCrawlerOptions tells about a crawler of the owner's own.
func TestCrawlerOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, crawler, site, userAgent string
		google, others                 string // for /google-not/ and /others-not/: what the placeholders say, or "403"
	}{
		{"an unknown crawler", "", "", acmeUA, "AcmeBot crawler allowed", "403"},
		{"a new one", "crawler AcmeBot", "", acmeUA, "AcmeBot crawler allowed", "403"},
		{"a class that * judges", "crawler AcmeBot {\n class ai_training\n}", "", acmeUA, "AcmeBot ai_training allowed", "403"},
		{"a class that * does not judge", "crawler AcmeBot {\n class preview\n}", "", acmeUA, "AcmeBot preview exempt", "AcmeBot preview exempt"},
		{"a fallback", "crawler AcmeBot {\n fallback Bytespider Googlebot\n}", "", acmeUA, "403", "AcmeBot crawler allowed"},
		{"not meant by *", "crawler AcmeBot {\n wildcard off\n}", "", acmeUA, "AcmeBot crawler exempt", "AcmeBot crawler exempt"},
		{"not meant by *, whatever the site says", "crawler AcmeBot {\n wildcard off\n}", "wildcard crawler", acmeUA, "AcmeBot crawler exempt", "AcmeBot crawler exempt"},
		{"meant by *", "crawler AcmeBot {\n class preview\n wildcard on\n}", "", acmeUA, "AcmeBot preview allowed", "403"},
		{"another class for a known one", "crawler UptimeRobot {\n class ai_training\n}", "", harness.UptimeRobot, "UptimeRobot ai_training allowed", "403"},
		{"another fallback for a known one", "crawler bingbot {\n fallback Googlebot\n}", "", harness.Bingbot, "403", "bingbot search allowed"},
		{"a known one not meant by *", "crawler bingbot {\n wildcard off\n}", "", harness.Bingbot, "bingbot search exempt", "bingbot search exempt"},
		{"a name of several words", "crawler \"Acme web spider\" {\n class seo\n}", "", "Acme web spider/4.0", "Acme web spider seo allowed", "403"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			global := ""
			if test.crawler != "" {
				global = "robots_guard {\n" + test.crawler + "\n}"
			}
			s := harness.Serve(t, crawlerSite, "$GLOBAL", global, "$OPTIONS", test.site)
			s.Warm("/")
			for path, want := range map[string]string{"/google-not/x": test.google, "/others-not/x": test.others} {
				a := harness.Get(t, s.URL(path), test.userAgent)
				got := a.Header.Get("X-Class")
				if a.Status == 403 {
					got = "403"
				}
				if got != want {
					t.Errorf("%s: got %d %q, want %q", path, a.Status, got, want)
				}
			}
		})
	}
}

// TestCrawlerOverReload knows a crawler by what the configuration says that
// runs, also at sites whose robots.txt was read before.
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
		{"nobody said anything", "", acmeUA, "/google-not/x", 200},
		{"added, with a fallback", "crawler AcmeBot {\n fallback Googlebot\n}", acmeUA, "/google-not/x", 403},
		{"another class", "crawler AcmeBot {\n class preview\n}", acmeUA, "/others-not/x", 200},
		{"removed", "", acmeUA, "/others-not/x", 403},
		{"a name that the robots.txt has, too", "crawler \"Acme Scout\" {\n class seo\n fallback Googlebot\n}", scout, "/scouts-not/x", 403},
		{"that has no * group now", "crawler \"Acme Scout\" {\n wildcard off\n}", scout, "/others-not/x", 200},
		{"removed, and named by the robots.txt alone", "", scout, "/scouts-not/x", 403},
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
