package guard

import (
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// TestRecordNames checks that the ledger keeps the names of unregistered clients, and
// the requested hosts of a wildcard site.
func TestRecordNames(t *testing.T) {
	g := recordingGuard(t, options{}, mixedRobots)
	for range 3 {
		g.visit(t, "ExampleMonitorBot/0.1 (+http://monitor.example/bot)", "http://a.example.net/private/x", "192.0.2.1")
	}
	g.visit(t, "ExampleMonitorBot/0.1 (+http://monitor.example/bot)", "http://EXAMPLE.com/private/x", "192.0.2.1")
	g.visit(t, "bingbot/2.0", "http://b.example.net/private/x", "192.0.2.1")
	sum := g.state.Reports(time.Now()).Summary(report.Filter{})
	crawlers := g.state.Reports(time.Now()).Crawlers(report.Filter{}, 0, 100).Crawlers
	others := slices.IndexFunc(crawlers, func(c report.Crawler) bool { return c.Token == "_other" })
	if names := crawlers[others].Names; len(names) != 1 || names[0].Name != "ExampleMonitorBot" || names[0].Count != 4 {
		t.Errorf("names: %+v", names)
	}
	for _, site := range sum.SitesNow {
		if want := map[string]int{"*.example.net": 2}[site.Site]; len(site.Hosts) != want {
			t.Errorf("%s has the hosts %+v", site.Site, site.Hosts)
		}
	}
	for _, v := range g.state.Reports(time.Now()).Violations(report.Filter{}, 0, 100).Violations {
		want := map[string]string{"example.com": "", "*.example.net": "a.example.net"}[v.Site]
		if v.Token == "bingbot" {
			want = "b.example.net"
		}
		if v.Host != want || (v.Name != "") != (v.Token == "_other") {
			t.Errorf("%s at %s asked %q as %q, want %q", v.Token, v.Site, v.Host, v.Name, want)
		}
	}
}
