package guard

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestOthers checks that both packages use the same name for clients without their own
// row.
func TestOthers(t *testing.T) {
	if ledger.Other != judge.OtherName {
		t.Errorf("others are %s in the ledger", ledger.Other)
	}
}

// recordingGuard returns a guard of the host example.com with a ledger.
func recordingGuard(t *testing.T, o options, text string) *Guard {
	t.Helper()
	return testGuard(t, o, serving(text))
}

// exampleServer names example.com in its configuration.
var exampleServer = &caddyhttp.Server{Routes: caddyhttp.RouteList{
	{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"example.com", "*.example.net"}}}},
}}

// visit sends a request for a URL through the guard.
func (g *Guard) visit(t *testing.T, userAgent, url, clientIP string) {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	w, r := httptest.NewRecorder(), requestBy(userAgent, "/"+path)
	r.Host = host
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, exampleServer)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, clientIP)
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write([]byte(mixedRobots))
		return err
	})
	_ = g.Serve(w, r, next) // an error is the response to a blocked request
}

func TestRecord(t *testing.T) {
	g := recordingGuard(t, options{Enforce: true, OnlyLog: []string{"curl"}}, mixedRobots)
	g.visit(t, "bingbot/2.0", "http://example.com/", "192.0.2.1") // fetches the file
	g.visit(t, "bingbot/2.0", "http://example.com/robots.txt", "192.0.2.1")
	g.visit(t, "bingbot/2.0", "http://example.com/private/x?y", "192.0.2.1")
	g.visit(t, "curl/8.7.1", "http://example.com/named/x", "2001:db8:1:2::3")
	g.visit(t, "acmescraper/0.1", "http://example.com/named/x", "192.0.2.1")
	g.visit(t, "Twitterbot/1.0", "http://example.com/private/x", "192.0.2.1")
	g.visit(t, "inventedcrawler/0.1 (+http://invented.example/bot)", "http://example.com/", "192.0.2.1")
	g.visit(t, uaFirefox, "http://example.com/private/x", "192.0.2.1")
	g.visit(t, "", "http://example.com/private/x", "192.0.2.1")

	list := g.state.Reports(time.Now()).Crawlers(report.Filter{}, 0, 100)
	got := make(map[string]string)
	for _, c := range list.Crawlers {
		got[c.Token] = fmt.Sprint(c.Class, " ", c.Requests, c.Allowed, c.Disallowed, c.Exempt, c.Blocked, c.WouldBlock, " ", c.Action)
	}
	for token, want := range map[string]string{
		"bingbot":     "search 3 2 1 0 1 0 blocked",
		"curl":        "library 1 0 1 0 0 0 logged",
		"acmescraper": "crawler 1 0 1 0 1 0 blocked",
		"Twitterbot":  "preview 1 0 0 1 0 0 none",
		"_other":      "crawler 1 1 0 0 0 0 none",
	} {
		if got[token] != want {
			t.Errorf("%s: %s, want %s", token, got[token], want)
		}
	}
	if len(got) != 5 {
		t.Errorf("recorded are %v", got)
	}
	bing, ok := g.state.Reports(time.Now()).Crawler(report.Filter{}, "bingbot")
	if !ok || bing.Crawler.RobotsFetch == nil || bing.Crawler.RobotsFetch.Status != 200 || !bing.Crawler.RobotsFetch.Current || bing.Crawler.RequestsSinceFetch != 1 {
		t.Fatalf("bingbot has read %+v, %d requests since", bing.Crawler.RobotsFetch, bing.Crawler.RequestsSinceFetch)
	}
	if p := bing.Paths; len(p) != 1 || p[0].Path != "/private/x?y" || p[0].Rule != "Disallow: /private/" || p[0].Line != 2 || p[0].Site != "example.com" {
		t.Errorf("its paths are %+v", p)
	}
	if n := bing.Networks; len(n) != 1 || n[0].Network != "192.0.2.0/24" {
		t.Errorf("its networks are %+v", n)
	}
	curl, _ := g.state.Reports(time.Now()).Crawler(report.Filter{}, "curl")
	if n := curl.Networks; len(n) != 1 || n[0].Network != "2001:db8:1::/48" {
		t.Errorf("the networks of curl are %+v", n)
	}
	robots, ok := g.state.Reports(time.Now()).Robots(report.Filter{Site: "example.com"})
	if !ok || robots.Health.State != report.OK || robots.Lines[1].Hits != 1 || robots.Health.Authority != "http://example.com" {
		t.Errorf("robots.txt: %+v, %+v", robots.Health, robots.Lines)
	}
}

// TestRecordInvented checks that the ledger keeps no separate rows for values that
// clients invent.
func TestRecordInvented(t *testing.T) {
	g := recordingGuard(t, options{}, mixedRobots)
	for i := range 200 {
		g.visit(t, fmt.Sprintf("invented%dbot/1.0 (+http://x.example/)", i), fmt.Sprintf("http://host%d.example/private/%d", i, i), "192.0.2.1")
		g.visit(t, "bingbot/2.0", fmt.Sprintf("http://host%d.example.net:%d/private/%d", i, 8000+i, i), "192.0.2.1")
		g.visit(t, "bingbot/2.0", fmt.Sprintf("http://example.com:%d/", 8000+i), "192.0.2.1")
	}
	s := g.state.Ledger.Snapshot()
	var names []string
	for _, site := range s.Sites {
		names = append(names, fmt.Sprint(site.Name, " ", len(site.Rows), " ", len(site.VersionHits)))
	}
	if got := fmt.Sprint(names); got != "[*.example.net 1 0 _other 1 0 example.com 1 1]" {
		t.Errorf("sites, crawlers and files: %s", got)
	}
	if n := len(maps.Collect(g.state.siteRecords.recordsWithCurrentMode())); n != 3 {
		t.Errorf("%d sites are known to be guarded", n)
	}
	if live := g.state.Reports(time.Now()).SiteStates; live["_other"].Authority != "" || live["*.example.net"].Authority != "" || live["_other"].Mode != "monitor" {
		t.Errorf("live: %+v", live)
	}
}

// TestModes checks that the configuration determines the mode of a site, and that the guard does so
// for a site that the configuration does not list.
func TestModes(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	here := &Judgement{Site: &site.Site{Label: "example.com", Key: policy.Key{Site: "example.com", Host: "example.com"}}}
	mode := func() string { return g.state.Reports(time.Now()).SiteStates["example.com"].Mode }
	if got := mode(); got != "" {
		t.Errorf("before a judgement: %q", got)
	}
	if g.recordSite(here); mode() != "monitor" {
		t.Errorf("without a configuration: %q", mode())
	}
	release := func() {}
	for _, configured := range []string{"enforce", "mixed", "monitor"} {
		next := g.state.UseSettings(Settings{Sites: ConfiguredSites{Modes: map[string]string{"example.com": configured}}})
		release()
		release = next
		for range 2 { // without a request since the reload, and with one
			live := g.state.Reports(time.Now()).SiteStates["example.com"]
			if live.Mode != configured || live.Enforces != (configured != "monitor") || g.state.Enforces(here.Site.Key) != live.Enforces {
				t.Errorf("%s: %+v, enforces: %t", configured, live, g.state.Enforces(here.Site.Key))
			}
			g.recordSite(here)
		}
	}
	release()
}

func TestPrefers(t *testing.T) {
	https, http := policy.Key{IsHTTPS: true, Host: "example.com"}, policy.Key{Host: "example.com"}
	port := policy.Key{IsHTTPS: true, Host: "example.com:8443"}
	for _, tc := range []struct {
		key, known policy.Key
		segment    policy.Segment
		want       bool
	}{
		{http, policy.Key{}, policy.ConfiguredHosts, true},
		{http, policy.Key{}, policy.UnknownHosts, false},
		{http, http, policy.ConfiguredHosts, false},
		{https, http, policy.ConfiguredHosts, true},
		{http, https, policy.ConfiguredHosts, false},
		{port, http, policy.ConfiguredHosts, false},
		{http, port, policy.ConfiguredHosts, true},
		{policy.Key{IsHTTPS: true, Host: "example.com:1"}, port, policy.ConfiguredHosts, false},
	} {
		if got := isBetterKey(&site.Site{Label: "example.com", Key: tc.key, CacheSegment: tc.segment}, tc.known); got != tc.want {
			t.Errorf("%v over %v: %t, want %t", tc.key, tc.known, got, tc.want)
		}
	}
}

// TestFirstLabelKeepsNoRequest checks that the label of the first judged site, which the guard keeps, does
// not keep its judgement in memory, with the request's response writer.
func TestFirstLabelKeepsNoRequest(t *testing.T) {
	g := testGuard(t, options{}, serving(""))
	j := g.Judge(requestBy("bingbot/2.0", "/"))
	freed := make(chan bool, 1)
	defer runtime.KeepAlive(g)
	runtime.AddCleanup(j, func(freed chan bool) { freed <- true }, freed)
	g.recordSite(j)
	j = nil
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the judgement is still in memory")
}

// TestRecordOfSeveralGuards checks that the latest guard determines the record of a site, also if
// the requests of several guards alternate.
func TestRecordOfSeveralGuards(t *testing.T) {
	var sites siteRecords
	file, url := policy.Key{Source: "/srv/robots.txt"}, policy.Key{Source: "https://cdn.test/robots.txt"}
	here := func(key policy.Key) *site.Site { return &site.Site{Label: "example.com", Key: key} }
	for i, step := range []struct {
		guard   int64
		key     policy.Key
		mode    string
		changed bool
	}{
		{1, file, "monitor", true},
		{2, url, "enforce", true},
		{1, file, "monitor", false},
		{2, url, "enforce", false},
		{3, file, "monitor", true}, // after a reload
		{2, url, "enforce", false}, // in flight
		{3, file, "monitor", false},
	} {
		mode, changed := sites.recordSite(here(step.key), step.guard, step.mode)
		latest := sites.loadRecord("example.com")
		if changed != step.changed || mode != latest.mode || (latest.guardNumber == step.guard) != (latest.key == step.key && mode == step.mode) {
			t.Errorf("step %d: changed %t, mode %s, %+v", i, changed, mode, latest)
		}
	}
}

// TestMarksOfSites checks that the ledger marks a change of mode at the first judgement after a
// reload, and an edit of robots.txt at each of its sites.
func TestMarksOfSites(t *testing.T) {
	g := testGuard(t, options{}, serving(""))
	key := policy.Key{Source: "/srv/robots.txt"}
	labels := []string{"example.com", "www.example.com", "_other"}
	for _, mode := range []string{"monitor", "enforce"} {
		defer g.state.UseSettings(Settings{Sites: ConfiguredSites{Modes: map[string]string{labels[0]: mode, labels[1]: mode, labels[2]: mode}}})()
		for _, label := range labels {
			g.recordSite(&Judgement{Site: &site.Site{Label: label, Key: key}})
			g.state.Ledger.Record(&ledger.Request{At: time.Now(), Site: label, Token: "GPTBot"})
		}
	}
	read := func(text string) *policy.Version {
		return policy.State{}.AfterFetch(policy.FetchResult{Status: 200, Body: []byte(text)}, time.Now(), policy.FreshnessPolicy{}, 0).Current
	}
	before, after := read("User-agent: *\nDisallow: /a\n"), read("User-agent: *\nDisallow: /b\n")
	g.recordEdit(key, nil, before)
	g.recordEdit(policy.Key{Host: "example.com"}, before, after) // belongs to no site
	g.recordEdit(key, before, after)
	for _, site := range g.state.Ledger.Snapshot().Sites {
		got := ""
		for _, m := range site.Changes {
			got += fmt.Sprintf("%s %.4s %.4s ", m.Kind, m.From, m.To)
		}
		want := fmt.Sprintf("mode moni enfo robots %.4s %.4s ", ledger.Version(before.Hash), ledger.Version(after.Hash))
		if site.Name == "_other" {
			want = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", site.Name, got, want)
		}
	}
}

// BenchmarkNote measures recording a judgement.
func BenchmarkNote(b *testing.B) {
	g := testGuard(b, options{Enforce: true}, serving(mixedRobots))
	r := browserRequest()
	r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
	j := g.Judge(r)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.recordInLedger(r, j)
		}
	})
}
