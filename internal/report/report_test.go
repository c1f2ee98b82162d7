package report

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

var now = time.Date(2026, 11, 21, 14, 20, 30, 0, time.UTC)

const (
	oldText     = "User-agent: *\nCrawl-delay: 2\nDisallow: /private/\nSitemap: https://example.com/s.xml\n"
	currentText = "User-agent: *\nCrawl-delay: 2\nDisalow: /private/\nDisallow: /tmp/\n\nUser-agent: GPTBot\nDisallow: /articles/\nAllow: /articles/free/\n"
)

// state is what is known of a robots.txt that has changed two hours ago.
func state() *policy.State {
	answer := func(text string) policy.FetchResult {
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}
	}
	freshness := policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}
	s := policy.State{}.AfterFetch(answer(oldText), now.Add(-48*time.Hour), freshness, 0)
	s = s.AfterFetch(answer(currentText), now.Add(-2*time.Hour), freshness, 0)
	return &s
}

// scripted is a day of a small server.
func scripted() *Source {
	l := ledger.New(func() time.Time { return now })
	live := SiteState{Mode: "enforce", Authority: "https://example.com", Source: "server", State: state()}
	good := live.currentVersion()
	request := func(ago time.Duration, token string, class uaident.Class, verdict judge.Verdict, target string) *ledger.Request {
		q := &ledger.Request{
			At: now.Add(-ago), Site: "example.com", Token: token, Class: class, Verdict: verdict, Method: "GET", Target: target,
			UserAgent: token + "/1.0", Network: netip.MustParsePrefix("192.0.2.0/24"), VersionFetchedAt: good.FirstFetched,
			Rule: ledger.Rule{Version: good.Hash},
		}
		if verdict == judge.Disallowed || verdict == judge.Stale {
			q.Rule.Line, q.Rule.Text, q.Rule.Group, q.GroupLine = 7, "Disallow: /articles/", "GPTBot", 6
		}
		if verdict == judge.Disallowed {
			q.Action = judge.Blocked
		}
		return q
	}
	record := func(q *ledger.Request) {
		l.Record(q)
		l.Snapshot() // what waits in buffers is counted in any order
	}
	read := request(90*time.Minute, "GPTBot", uaident.AITraining, judge.Allowed, "/robots.txt")
	record(read)
	l.RecordRobotsFetch(read, ledger.RobotsFetch{At: read.At.UnixMilli(), Status: 200, Version: good.Hash})
	for i := range 60 { // ten a minute for the last six minutes
		record(request(time.Duration(59-i)*6*time.Second, "GPTBot", uaident.AITraining, judge.Disallowed, fmt.Sprintf("/articles/%d", (59-i)%3)))
	}
	record(request(110*time.Minute, "GPTBot", uaident.AITraining, judge.Stale, "/articles/0"))
	for i := range 20 {
		q := request(time.Duration(i)*time.Hour, "bingbot", uaident.Search, judge.Allowed, "/")
		q.GroupLine = 1
		if i%2 == 0 {
			q.Identity = verify.Verified
		}
		record(q)
	}
	wrong := request(30*time.Minute, "bingbot", uaident.Search, judge.Disallowed, "/private/\n")
	wrong.Rule.Line, wrong.Rule.Text, wrong.Rule.Group, wrong.GroupLine = 3, "Disallow: /private/", "*", 1
	record(wrong)
	monitored := request(3*24*time.Hour, ledger.Other, uaident.GenericCrawler, judge.Disallowed, "/x")
	monitored.Site, monitored.Action, monitored.WouldBlock = "shop.example.com", judge.Logged, true
	record(monitored)
	snapshot := l.Snapshot()
	snapshot.Since = now.Add(-4 * 24 * time.Hour).UnixMilli()
	return &Source{Ledger: snapshot, Now: now, SiteStates: map[string]SiteState{"example.com": live, "quiet.example.com": {Mode: "monitor"}}}
}

func TestSummary(t *testing.T) {
	s := scripted()
	for _, tc := range []struct {
		filter string
		want   string // requests, disallowed, stale, blocked, would be blocked, crawlers, points, step, sites
	}{
		{"", "83 61 1 61 0 2 24 3600 3"},
		{"window=1h", "62 61 0 61 0 2 60 60 3"},
		{"window=7d", "84 62 1 61 1 3 168 3600 3"},
		{"window=30d", "84 62 1 61 1 3 30 86400 3"},
		{"window=7d&site=shop.example.com", "1 1 0 0 1 1 168 3600 1"},
		{"class=search", "21 1 0 1 0 1 24 3600 3"},
		{"identity=verified", "10 0 0 0 0 1 24 3600 3"},
		{"site=nowhere.example", "0 0 0 0 0 0 24 3600 0"},
	} {
		query, err := url.ParseQuery(tc.filter)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ParseFilter(query)
		if err != nil {
			t.Fatal(err)
		}
		sum := s.Summary(f)
		got := fmt.Sprint(sum.Requests, sum.Disallowed, sum.Stale, sum.Blocked, sum.WouldBlock, sum.Crawlers, len(sum.Series.Points), sum.Series.StepSeconds, len(sum.SitesNow))
		if got != tc.want {
			t.Errorf("%q: %s, want %s", tc.filter, got, tc.want)
		}
		// All numbers of a view add up to the same.
		var points, sites, top, crawlers, classes RequestCounts
		for _, p := range sum.Series.Points {
			points = points.plus(p.RequestCounts)
		}
		for _, site := range sum.SitesNow {
			sites = sites.plus(site.RequestCounts)
		}
		for _, c := range sum.Top {
			top = top.plus(c.RequestCounts)
		}
		for _, c := range s.Crawlers(f, 0, 100).Crawlers {
			crawlers = crawlers.plus(c.RequestCounts)
			detail, ok := s.Crawler(f, c.ID)
			if !ok || detail.Crawler.RequestCounts != c.RequestCounts {
				t.Errorf("%q: %s: %v in detail, %v in the list", tc.filter, c.ID, detail.Crawler.RequestCounts, c.RequestCounts)
			}
			if n := c.Identities; n.Verified+n.Claimed+n.Unknown+n.Spoofed != c.Requests {
				t.Errorf("%q: %s: identities %+v of %d requests", tc.filter, c.ID, n, c.Requests)
			}
		}
		for _, c := range s.Impact(f).ByClass {
			classes = classes.plus(c.RequestCounts)
		}
		for name, counts := range map[string]RequestCounts{"points": points, "sites": sites, "top": top, "crawlers": crawlers, "classes": classes} {
			if counts != sum.RequestCounts {
				t.Errorf("%q: the %s add up to %+v, want %+v", tc.filter, name, counts, sum.RequestCounts)
			}
		}
	}
	sum := s.Summary(Filter{})
	spoofed := scripted()
	for _, row := range spoofed.Ledger.Sites[0].Rows {
		row.Identity = verify.Spoofed
	}
	if blocked := spoofed.Summary(Filter{}).SearchBlocked; len(blocked) != 0 {
		t.Errorf("a false name counts as a search engine: %+v", blocked)
	}
	if len(sum.SearchBlocked) != 1 || sum.SearchBlocked[0].Token != "bingbot" || sum.SearchBlocked[0].Blocked != 1 || sum.SearchBlocked[0].Line != 3 {
		t.Errorf("search engines blocked: %+v", sum.SearchBlocked)
	}
	if h := sum.SitesNow[0].Robots; h.State != OK || h.RuleCount != 4 || h.Findings.Warnings != 1 || sum.SitesNow[0].Mode != "enforce" {
		t.Errorf("health: %+v", h)
	}
	if sum.SitesNow[1].Robots.State != Unread {
		t.Errorf("health of a site that was not read: %+v", sum.SitesNow[1].Robots)
	}
}

// TestPeriods begins a view where counting begins, and compares with a period
// before only if all of it was counted.
func TestPeriods(t *testing.T) {
	s := scripted()
	s.Ledger.Since = now.Add(-90 * 24 * time.Hour).UnixMilli()
	for _, tc := range []struct {
		window           Window
		since, retention time.Duration
		counted          string
		previous         string // requests, disallowed and blocked of it
	}{
		{Day, 90 * 24 * time.Hour, ledger.MaxRetention, "11-20 15:00", "0 0 0"},
		{Hour, 90 * 24 * time.Hour, ledger.MaxRetention, "11-21 13:21", "3 0 0"},
		{Hour, 2 * time.Hour, ledger.MaxRetention, "11-21 13:21", "3 0 0"},
		{Hour, 90 * time.Minute, ledger.MaxRetention, "11-21 13:21", "none"},
		{Hour, 20 * time.Minute, ledger.MaxRetention, "11-21 14:00", "none"},
		{Week, 90 * 24 * time.Hour, ledger.MaxRetention, "11-14 15:00", "0 0 0"},
		{Month, 90 * 24 * time.Hour, ledger.MaxRetention, "10-23 00:00", "0 0 0"},
		{Month, 90 * 24 * time.Hour, 10 * 24 * time.Hour, "11-11 14:20", "none"},
		{Month, 90 * 24 * time.Hour, 40 * 24 * time.Hour, "10-23 00:00", "none"},
	} {
		s.Ledger.Since, s.Ledger.Retention = now.Add(-tc.since).UnixMilli(), tc.retention
		sum := s.Summary(Filter{Window: tc.window})
		previous := "none"
		if sum.Previous != nil {
			previous = fmt.Sprint(sum.Previous.Requests, sum.Previous.Disallowed, sum.Previous.Blocked)
			if got := sum.From.Sub(sum.PreviousFrom); got != time.Duration(len(sum.Series.Points)*sum.Series.StepSeconds)*time.Second {
				t.Errorf("%s: the period before is %v long", tc.window, got)
			}
		}
		if got := sum.CountedFrom.Format("01-02 15:04"); got != tc.counted || previous != tc.previous || (sum.Previous == nil) != sum.PreviousFrom.IsZero() {
			t.Errorf("%s, counting for %v: from %s, before %s; want %s, %s", tc.window, tc.since, got, previous, tc.counted, tc.previous)
		}
	}
	s.Now = s.Now.Add(time.Hour)
	s.Ledger.Since = now.Add(-90 * 24 * time.Hour).UnixMilli()
	list := s.Crawlers(Filter{Window: Hour}, 0, 10)
	if len(list.Crawlers) != 0 {
		t.Fatalf("%+v", list.Crawlers)
	}
	if sum := s.Summary(Filter{Window: Hour}); sum.Previous == nil || sum.Previous.Disallowed != 61 || sum.SitesNow[0].Previous.Blocked != 61 {
		t.Errorf("the hour before: %+v", sum.Previous)
	}
}

// TestRanges takes the finest steps that are kept for all of a range, and counts
// what is in it only.
func TestRanges(t *testing.T) {
	s := scripted()
	s.Ledger.Since = now.Add(-90 * 24 * time.Hour).UnixMilli()
	s.Now = now.Add(time.Hour)
	ago := func(d time.Duration) time.Time { return s.Now.Add(-d) }
	const day = 24 * time.Hour
	all := s.Summary(Filter{Window: Month}).Requests
	for _, tc := range []struct {
		from, to    time.Time
		begin       string
		steps, step int
		requests    bool
	}{
		{ago(2 * time.Hour), time.Time{}, "11-21 13:20", 121, 60, true},
		{ago(2 * time.Hour), ago(time.Hour), "11-21 13:20", 61, 60, true},
		{ago(40 * time.Minute), ago(10*time.Minute + 30*time.Second), "11-21 14:40", 30, 60, false},
		{ago(5 * time.Hour), time.Time{}, "11-21 10:00", 6, 3600, true},
		{ago(7 * time.Hour), ago(6 * time.Hour), "11-21 08:00", 2, 3600, true},
		{ago(13 * day), ago(12 * day), "11-08 15:00", 25, 3600, false},
		{ago(15 * day), time.Time{}, "11-06 00:00", 16, 86400, true},
		{ago(400 * day), time.Time{}, "08-24 00:00", 90, 86400, true},
		{ago(-day), time.Time{}, "11-21 15:20", 1, 60, false},
		{ago(400 * day), ago(300 * day), "08-24 00:00", 1, 86400, false},
	} {
		sum := s.Summary(Filter{Window: Range, From: tc.from, To: tc.to})
		if begin := sum.From.Format("01-02 15:04"); begin != tc.begin || len(sum.Series.Points) != tc.steps || sum.Series.StepSeconds != tc.step {
			t.Errorf("%v to %v: %d steps of %d s from %s, want %d of %d from %s", tc.from, tc.to, len(sum.Series.Points), sum.Series.StepSeconds, begin, tc.steps, tc.step, tc.begin)
		}
		if got := sum.Requests > 0; got != tc.requests || sum.Requests > all {
			t.Errorf("%v to %v: %d requests of %d", tc.from, tc.to, sum.Requests, all)
		}
		if sum.To.After(sum.Generated) || !sum.From.Before(sum.To) {
			t.Errorf("%v to %v: shown from %v to %v", tc.from, tc.to, sum.From, sum.To)
		}
	}
	if sum := s.Summary(Filter{Window: Range, From: ago(4 * time.Hour), To: ago(3 * time.Hour)}); sum.Previous == nil || !sum.PreviousFrom.Equal(sum.From.Add(-61*time.Minute)) {
		t.Errorf("before: %v from %v", sum.Previous, sum.PreviousFrom)
	}
	if sum := s.Summary(Filter{Window: Range, From: ago(13 * day), To: ago(10 * day)}); sum.Previous != nil {
		t.Error("compared with hours that are not kept")
	}
	if list := s.Violations(Filter{Window: Range, From: ago(40 * time.Minute)}, 0, 10); list.Total != 0 {
		t.Errorf("%d violations after the last one", list.Total)
	}
}

func TestParseFilterRefuses(t *testing.T) {
	for filter, want := range map[string]string{
		"window=2h":               "unknown window \"2h\"; use one of [1h 24h 7d 30d]",
		"from=yesterday":          "from \"yesterday\" is not a time; use one such as",
		"to=2026-11-21T14:00:00Z": "from \"\" is not a time",
		"from=2026-11-21T14:00:00Z&to=2026-11-21T14:00:00Z": "is not a time after from",
		"class=searching":  "unknown class \"searching\"",
		"identity=perhaps": "unknown identity \"perhaps\"",
	} {
		query, _ := url.ParseQuery(filter)
		if _, err := ParseFilter(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", filter, err, want)
		}
	}
}

func TestHealth(t *testing.T) {
	freshness := policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}
	read := func(status int) policy.State {
		return policy.State{}.AfterFetch(policy.FetchResult{Status: status}, now, freshness, 0)
	}
	good, missing, failed := read(200), read(404), read(503)
	late := good.AfterFetch(policy.FetchResult{Status: 503}, now, freshness, 0)
	for _, tc := range []struct {
		state *policy.State
		want  RobotsState
	}{{nil, Unread}, {&good, OK}, {&missing, Missing}, {&failed, Unreachable}, {&late, LastGood}} {
		if got := new(Source).robotsHealth(SiteState{State: tc.state}).State; got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}
