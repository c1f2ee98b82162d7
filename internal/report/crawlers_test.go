package report

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestCrawlers(t *testing.T) {
	s := scripted()
	list := s.Crawlers(Filter{}, 0, 1)
	if list.Total != 2 || len(list.Crawlers) != 1 || list.Next != "1" {
		t.Fatalf("%d of %d, next %q", len(list.Crawlers), list.Total, list.Next)
	}
	c := list.Crawlers[0]
	if c.Token != "GPTBot" || c.Operator != "OpenAI" || c.Class != "ai_training" || !c.WildcardApplies || c.Action != "blocked" {
		t.Errorf("%+v", c)
	}
	if c.Compliance == nil || *c.Compliance != 100*2.0/62 {
		t.Errorf("compliance %v", c.Compliance)
	}
	if c.RobotsFetch == nil || !c.RobotsFetch.Current || c.RobotsFetch.Status != 200 || c.RequestsSinceFetch != 60 {
		t.Errorf("read %+v, %d requests since", c.RobotsFetch, c.RequestsSinceFetch)
	}
	if p := c.TopPath; p == nil || p.Path != "/articles/0" || p.Count != 20 || p.Line != 7 || p.Site != "example.com" {
		t.Errorf("top path %+v", p)
	}
	// 46 requests since 14:16:00, 4.5 minutes ago; the group of GPTBot has no
	// delay, and * is not for it.
	if c.Rate.PeakPerMinute != 10 || c.Rate.PerMinuteOfDay <= 0 || c.Rate.PerMinuteOfDay >= c.Rate.PerMinute {
		t.Errorf("rate %+v", c.Rate)
	}
	if c.Rate.PerMinute != 46/4.5 || c.Rate.CrawlDelay != 0 || c.Rate.Exceeds {
		t.Errorf("rate %+v", c.Rate)
	}
	last := s.Crawlers(Filter{}, 1, 1)
	if last.Next != "" || last.Crawlers[0].Token != "bingbot" || last.Crawlers[0].Rate.CrawlDelay != 2 || last.Crawlers[0].Rate.CrawlDelaySupport != "obeys" || last.Crawlers[0].Rate.Exceeds {
		t.Errorf("%+v", last.Crawlers)
	}
	if beyond := s.Crawlers(Filter{}, 9, 10); len(beyond.Crawlers) != 0 || beyond.Next != "" {
		t.Errorf("%+v", beyond.Crawlers)
	}
	detail, _ := s.Crawler(Filter{}, "GPTBot")
	if len(detail.Rules) != 2 || detail.Rules[0].Count != 60 || detail.Rules[1].Verdict != "stale" || len(detail.Paths) != 4 || detail.Paths[0].Count != 20 {
		t.Errorf("rules %+v, paths %+v", detail.Rules, detail.Paths)
	}
	if len(detail.RecentSamples) == 0 || detail.RecentSamples[0].Network != "192.0.2.0/24" || detail.RecentSamples[0].UserAgent != "GPTBot/1.0" || detail.RecentSamples[0].VersionFetched != "current" {
		t.Errorf("recent %+v", detail.RecentSamples)
	}
	if _, ok := s.Crawler(Filter{}, "nobody"); ok {
		t.Error("a crawler that was never seen has a detail")
	}
	if _, ok := s.Crawler(Filter{Window: Week}, "_other:crawler"); !ok {
		t.Error("the others have no detail")
	}
}

func TestViolations(t *testing.T) {
	s := scripted()
	list := s.Violations(Filter{}, 0, 3)
	if list.Total != 5 || list.Next != "3" || len(list.Violations) != 3 {
		t.Fatalf("%d of %d, next %q", len(list.Violations), list.Total, list.Next)
	}
	if v := list.Violations[0]; v.Path != "/articles/0" || v.Count != 20 || v.Line != 7 {
		t.Errorf("%+v", v)
	}
	rest := s.Violations(Filter{}, 3, 3)
	if v := rest.Violations[1]; v.Verdict != "stale" || rest.Next != "" {
		t.Errorf("%+v", v)
	}
	if list := s.Violations(Filter{Site: "shop.example.com", Window: Month}, 0, 10); list.Total != 1 || list.Violations[0].Token != "_other" {
		t.Errorf("%+v", list.Violations)
	}
}

func TestEvidence(t *testing.T) {
	s := scripted()
	for _, id := range []string{"GPTBot", "bingbot"} {
		e, ok := s.Evidence(Filter{}, id)
		if !ok {
			t.Fatal("there is no evidence")
		}
		if len(e.Files) != 1 || e.Files[0].Text != currentText || len(e.MissingVersions) != 0 {
			t.Errorf("%d files, missing %v", len(e.Files), e.MissingVersions)
		}
		var text strings.Builder
		if err := e.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		goldenText(t, "evidence_"+strings.ToLower(id)+".txt", text.String())
	}
	s.SiteStates = nil
	if e, _ := s.Evidence(Filter{}, "GPTBot"); len(e.MissingVersions) != 1 || len(e.Files) != 0 {
		t.Errorf("missing are %v", e.MissingVersions)
	}
}

// TestRateAsked tells who is called faster than asked: nobody by few requests, and no
// crawler that does not read Crawl-delay.
func TestRateAsked(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nCrawl-delay: 10\n\nUser-agent: CCBot\nDisallow:\n"))
	good := &policy.Version{Robots: robots}
	source := &Source{Registry: uaident.Default(), SiteStates: map[string]SiteState{"a.test": {State: &policy.State{Current: good}}}}
	for _, tc := range []struct {
		token string
		seen  uint64
		want  RequestRate
	}{
		{"bingbot", 45, RequestRate{CrawlDelay: 10, DelayLine: 2, CrawlDelaySupport: "obeys"}},
		{"bingbot", 46, RequestRate{CrawlDelay: 10, DelayLine: 2, CrawlDelaySupport: "obeys", Exceeds: true}},
		{"GPTBot", 46, RequestRate{CrawlDelay: 10, DelayLine: 2, CrawlDelaySupport: "undocumented", Exceeds: true}},
		{"Googlebot", 9999, RequestRate{CrawlDelay: 10, DelayLine: 2, CrawlDelaySupport: "ignores"}},
		{"CCBot", 9999, RequestRate{}},
		{"UptimeRobot", 9999, RequestRate{}},
	} {
		class := uaident.Default().Lookup(tc.token).Class.String()
		var got RequestRate
		(&filteredSource{Source: source}).setCrawlDelay(&got, []siteRow{{site: "a.test", row: &ledger.Row{Token: tc.token, Class: class}}}, tc.seen)
		if got != tc.want {
			t.Errorf("%s, %d requests: %+v, want %+v", tc.token, tc.seen, got, tc.want)
		}
	}
}

// TestRateOfSeveralSites shows the rate at the site where the crawler exceeds the Crawl-delay, else
// the highest rate.
func TestRateOfSeveralSites(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 20, 30, 0, time.UTC)
	delay := &policy.State{Current: &policy.Version{Robots: policy.Parse([]byte("User-agent: *\nCrawl-delay: 10\n"))}}
	for _, tc := range []struct {
		name     string
		requests [2]int // at a.test and b.test in this minute
		states   map[string]SiteState
		want     float64 // requests in this minute at the site whose rate is shown
	}{
		{"the last site has the lowest rate", [2]int{90, 9}, nil, 90},
		{"the last site has the highest rate", [2]int{9, 90}, nil, 90},
		{"the first site exceeds the delay", [2]int{90, 900}, map[string]SiteState{"a.test": {State: delay}}, 90},
		{"the last site exceeds the delay", [2]int{900, 90}, map[string]SiteState{"b.test": {State: delay}}, 90},
	} {
		l := ledger.New(func() time.Time { return now })
		for i, n := range tc.requests {
			for range n {
				l.Record(&ledger.Request{At: now, Site: []string{"a.test", "b.test"}[i], Token: "bingbot", Class: uaident.Search, Verdict: judge.Allowed})
			}
		}
		s := &Source{Ledger: l.Snapshot(), Now: now, SiteStates: tc.states}
		rate := s.Crawlers(Filter{}, 0, 1).Crawlers[0].Rate
		if got := rate.PerMinute * 4.5; got != tc.want || rate.Exceeds != (tc.states != nil) {
			t.Errorf("%s: %v requests, exceeds %t; want %v", tc.name, got, rate.Exceeds, tc.want)
		}
	}
}
