package report

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

var now = time.Date(2026, 11, 21, 14, 20, 30, 0, time.UTC)

const (
	oldText     = "User-agent: *\nCrawl-delay: 2\nDisallow: /private/\nSitemap: https://example.com/s.xml\n"
	currentText = "User-agent: *\nCrawl-delay: 2\nDisalow: /private/\nDisallow: /tmp/\n\nUser-agent: GPTBot\nDisallow: /articles/\nAllow: /articles/free/\n"
)

// standing is what is known of a robots.txt that has changed two hours ago.
func standing() *policy.Standing {
	answer := func(text string) policy.Answer {
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	}
	freshness := policy.Freshness{Default: 10 * time.Minute, Max: policy.MaxAge}
	s := policy.Standing{}.After(answer(oldText), now.Add(-48*time.Hour), freshness, 0)
	s = s.After(answer(currentText), now.Add(-2*time.Hour), freshness, 0)
	return &s
}

// scripted is a day of a small server.
func scripted() *Source {
	l := ledger.New(func() time.Time { return now })
	live := Live{Mode: "enforce", Authority: "https://example.com", Source: "server", Standing: standing()}
	good := live.good()
	request := func(ago time.Duration, token string, class uaident.Class, verdict ledger.Verdict, target string) *ledger.Request {
		q := &ledger.Request{
			At: now.Add(-ago), Site: "example.com", Token: token, Class: class, Verdict: verdict, Method: "GET", Target: target,
			UserAgent: token + "/1.0", Network: netip.MustParsePrefix("192.0.2.0/24"), Since: good.FirstRead,
			Rule: ledger.Rule{Version: good.Hash},
		}
		if verdict == ledger.Disallowed || verdict == ledger.Stale {
			q.Rule.Line, q.Rule.Text, q.Rule.Group, q.GroupLine = 7, "Disallow: /articles/", "GPTBot", 6
		}
		if verdict == ledger.Disallowed {
			q.Action = ledger.Blocked
		}
		return q
	}
	record := func(q *ledger.Request) {
		l.Record(q)
		l.Snapshot() // what waits in buffers is counted in any order
	}
	read := request(90*time.Minute, "GPTBot", uaident.AITraining, ledger.Allowed, "/robots.txt")
	record(read)
	l.RecordRead(read, ledger.Read{At: read.At.UnixMilli(), Status: 200, Version: good.Hash})
	for i := range 60 { // ten a minute for the last six minutes
		record(request(time.Duration(59-i)*6*time.Second, "GPTBot", uaident.AITraining, ledger.Disallowed, fmt.Sprintf("/articles/%d", (59-i)%3)))
	}
	record(request(110*time.Minute, "GPTBot", uaident.AITraining, ledger.Stale, "/articles/0"))
	for i := range 20 {
		q := request(time.Duration(i)*time.Hour, "bingbot", uaident.Search, ledger.Allowed, "/")
		q.GroupLine = 1
		if i%2 == 0 {
			q.Identity = ledger.Verified
		}
		record(q)
	}
	wrong := request(30*time.Minute, "bingbot", uaident.Search, ledger.Disallowed, "/private/\n")
	wrong.Rule.Line, wrong.Rule.Text, wrong.Rule.Group, wrong.GroupLine = 3, "Disallow: /private/", "*", 1
	record(wrong)
	monitored := request(3*24*time.Hour, ledger.Other, uaident.GenericCrawler, ledger.Disallowed, "/x")
	monitored.Site, monitored.Action, monitored.WouldBlock = "shop.example.com", ledger.Logged, true
	record(monitored)
	return &Source{Ledger: l.Snapshot(), Now: now, Live: map[string]Live{"example.com": live, "quiet.example.com": {Mode: "monitor"}}}
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
		var points, sites, top, crawlers, classes Counts
		for _, p := range sum.Series.Points {
			points = points.plus(p.Counts)
		}
		for _, site := range sum.SitesNow {
			sites = sites.plus(site.Counts)
		}
		for _, c := range sum.Top {
			top = top.plus(c.Counts)
		}
		for _, c := range s.Crawlers(f, 0, 100).Crawlers {
			crawlers = crawlers.plus(c.Counts)
			detail, ok := s.Crawler(f, c.ID)
			if !ok || detail.Crawler.Counts != c.Counts {
				t.Errorf("%q: %s: %v in detail, %v in the list", tc.filter, c.ID, detail.Crawler.Counts, c.Counts)
			}
			if n := c.Identities; n.Verified+n.Claimed+n.Unknown+n.Spoofed != c.Requests {
				t.Errorf("%q: %s: identities %+v of %d requests", tc.filter, c.ID, n, c.Requests)
			}
		}
		for _, c := range s.Impact(f).ByClass {
			classes = classes.plus(c.Counts)
		}
		for name, counts := range map[string]Counts{"points": points, "sites": sites, "top": top, "crawlers": crawlers, "classes": classes} {
			if counts != sum.Counts {
				t.Errorf("%q: the %s add up to %+v, want %+v", tc.filter, name, counts, sum.Counts)
			}
		}
	}
	sum := s.Summary(Filter{})
	liar := scripted()
	for _, row := range liar.Ledger.Sites[0].Rows {
		row.Identity = ledger.Spoofed
	}
	if blocked := liar.Summary(Filter{}).SearchBlocked; len(blocked) != 0 {
		t.Errorf("a false name counts as a search engine: %+v", blocked)
	}
	if len(sum.SearchBlocked) != 1 || sum.SearchBlocked[0].Token != "bingbot" || sum.SearchBlocked[0].Blocked != 1 || sum.SearchBlocked[0].Line != 3 {
		t.Errorf("search engines blocked: %+v", sum.SearchBlocked)
	}
	if h := sum.SitesNow[0].Robots; h.State != OK || h.Rules != 4 || h.Findings.Warnings != 1 || sum.SitesNow[0].Mode != "enforce" {
		t.Errorf("health: %+v", h)
	}
	if sum.SitesNow[1].Robots.State != Unread {
		t.Errorf("health of a site that was not read: %+v", sum.SitesNow[1].Robots)
	}
}

func TestParseFilterRefuses(t *testing.T) {
	for filter, want := range map[string]string{
		"window=2h":        "window \"2h\" cannot be; use one of [1h 24h 7d 30d]",
		"class=searching":  "class \"searching\" is none",
		"identity=perhaps": "identity \"perhaps\" is none",
	} {
		query, _ := url.ParseQuery(filter)
		if _, err := ParseFilter(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", filter, err, want)
		}
	}
}

func TestHealth(t *testing.T) {
	freshness := policy.Freshness{Default: 10 * time.Minute, Max: policy.MaxAge}
	read := func(status int) policy.Standing {
		return policy.Standing{}.After(policy.Answer{Status: status}, now, freshness, 0)
	}
	good, missing, failed := read(200), read(404), read(503)
	late := good.After(policy.Answer{Status: 503}, now, freshness, 0)
	for _, tc := range []struct {
		standing *policy.Standing
		want     State
	}{{nil, Unread}, {&good, OK}, {&missing, Missing}, {&failed, Unreachable}, {&late, LastGood}} {
		if got := (Live{Standing: tc.standing}).health().State; got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestCrawlers(t *testing.T) {
	s := scripted()
	list := s.Crawlers(Filter{}, 0, 1)
	if list.Total != 2 || len(list.Crawlers) != 1 || list.Next != "1" {
		t.Fatalf("%d of %d, next %q", len(list.Crawlers), list.Total, list.Next)
	}
	c := list.Crawlers[0]
	if c.Token != "GPTBot" || c.Operator != "OpenAI" || c.Class != "ai_training" || !c.Wildcard || c.Action != "blocked" {
		t.Errorf("%+v", c)
	}
	if c.Compliance == nil || *c.Compliance != 100*2.0/62 {
		t.Errorf("compliance %v", c.Compliance)
	}
	if c.Read == nil || !c.Read.Current || c.Read.Status != 200 || c.SinceRead != 60 {
		t.Errorf("read %+v, %d requests since", c.Read, c.SinceRead)
	}
	// 46 requests since 14:16:00, 4.5 minutes ago; the group of GPTBot has no
	// delay, and * is not for it.
	if c.Rate.PerMinute != 46/4.5 || c.Rate.CrawlDelay != 0 || c.Rate.Exceeds {
		t.Errorf("rate %+v", c.Rate)
	}
	last := s.Crawlers(Filter{}, 1, 1)
	if last.Next != "" || last.Crawlers[0].Token != "bingbot" || last.Crawlers[0].Rate.CrawlDelay != 2 || last.Crawlers[0].Rate.Exceeds {
		t.Errorf("%+v", last.Crawlers)
	}
	if beyond := s.Crawlers(Filter{}, 9, 10); len(beyond.Crawlers) != 0 || beyond.Next != "" {
		t.Errorf("%+v", beyond.Crawlers)
	}
	detail, _ := s.Crawler(Filter{}, "GPTBot")
	if len(detail.Rules) != 2 || detail.Rules[0].Count != 60 || detail.Rules[1].Verdict != "stale" || len(detail.Paths) != 4 || detail.Paths[0].Count != 20 {
		t.Errorf("rules %+v, paths %+v", detail.Rules, detail.Paths)
	}
	if len(detail.Recent) == 0 || detail.Recent[0].Network != "192.0.2.0/24" || detail.Recent[0].UserAgent != "GPTBot/1.0" || detail.Recent[0].Read != "current" {
		t.Errorf("recent %+v", detail.Recent)
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
	if v := list.Violations[0]; v.Path != "/articles/0" || v.Count != 20 || v.Line != 7 || v.Reason != "" {
		t.Errorf("%+v", v)
	}
	rest := s.Violations(Filter{}, 3, 3)
	if v := rest.Violations[1]; v.Verdict != "stale" || v.Reason != reasonStale || rest.Next != "" {
		t.Errorf("%+v", v)
	}
	if list := s.Violations(Filter{Site: "shop.example.com", Window: Month}, 0, 10); list.Total != 1 || list.Violations[0].Token != "_other" {
		t.Errorf("%+v", list.Violations)
	}
}

func TestRobots(t *testing.T) {
	s := scripted()
	r, ok := s.Robots(Filter{Site: "example.com"})
	if !ok {
		t.Fatal("there is no robots.txt")
	}
	var lines []string
	for _, line := range r.Lines {
		lines = append(lines, fmt.Sprintf("%d %s %d %t %d", line.Line, line.Kind, line.Hits, line.NeverHit, len(line.Findings)))
	}
	want := "1 user-agent 21 false 0|2 record 0 false 0|3 rule 1 false 1|4 rule 0 true 0|5 other 0 false 0|6 user-agent 61 false 0|7 rule 61 false 0|8 rule 0 true 0"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("lines\n%s, want\n%s", got, want)
	}
	if r.NeverHit != 2 || len(r.Findings) != 1 || len(r.Versions) != 2 {
		t.Errorf("%d never hit, %d findings, %d versions", r.NeverHit, len(r.Findings), len(r.Versions))
	}
	var diff strings.Builder
	for _, line := range r.Versions[0].Diff {
		fmt.Fprintf(&diff, "%s%d %s\n", line.Op, line.Line, line.Text)
	}
	goldenText(t, "diff.txt", diff.String())
	var rejudged []string
	for _, p := range r.Versions[0].Rejudged {
		rejudged = append(rejudged, fmt.Sprint(p.Token, p.Path, " ", p.Before, " ", p.After, " ", p.Count))
	}
	if got := strings.Join(rejudged, "|"); got != "GPTBot/articles/0 allowed disallowed 21|GPTBot/articles/1 allowed disallowed 20|GPTBot/articles/2 allowed disallowed 20|bingbot/private/\n disallowed allowed 1" {
		t.Errorf("rejudged: %s", got)
	}
	for _, site := range []string{"", "nowhere.example"} {
		if _, ok := s.Robots(Filter{Site: site}); ok {
			t.Errorf("there is a robots.txt of %q", site)
		}
	}
	if r, ok := s.Robots(Filter{Site: "quiet.example.com"}); !ok || r.Health.State != Unread || len(r.Lines) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDiff(t *testing.T) {
	for _, tc := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a", "a", ""},
		{"a b c", "a x c", " 1a -2b +2x  3c"},
		{"", "a b", "+1a +2b"},
		{"a b", "", "-1a -2b"},
		{"a b c d e f g h i", "a b c d e f g h i j", " 7g  8h  9i +10j"},
		{"a b c", "b c d", "-1a  1b  2c +3d"},
	} {
		var got []string
		for _, line := range diff(strings.Fields(tc.before), strings.Fields(tc.after)) {
			got = append(got, fmt.Sprint(line.Op, line.Line, line.Text))
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%q to %q: %q, want %q", tc.before, tc.after, got, tc.want)
		}
	}
	long := make([]string, 3000)
	other := make([]string, 3000)
	for i := range long {
		long[i], other[i] = fmt.Sprint("a", i), fmt.Sprint("b", i)
	}
	if got := len(diff(long, other)); got != 6000 {
		t.Errorf("%d lines of two files of 3000", got)
	}
}

func TestImpact(t *testing.T) {
	impact := scripted().Impact(Filter{Window: Week})
	var classes []string
	for _, c := range impact.ByClass {
		classes = append(classes, fmt.Sprintf("%s %d %d %d", c.Class, c.Requests, c.Blockable, len(c.Crawlers[0].Rules)))
	}
	if got := strings.Join(classes, "|"); got != "search 21 1 1|ai_training 62 60 1|crawler 1 1 1" {
		t.Errorf("classes: %s", got)
	}
	if impact.Blockable != 62 || len(impact.Modes) != 3 || impact.Modes[0].Mode != "enforce" || impact.Modes[2].Mode != "" {
		t.Errorf("%d blockable, modes %v", impact.Blockable, impact.Modes)
	}
}

func TestEvidence(t *testing.T) {
	s := scripted()
	for _, id := range []string{"GPTBot", "bingbot"} {
		e, ok := s.Evidence(Filter{}, id)
		if !ok {
			t.Fatal("there is no evidence")
		}
		if len(e.Files) != 1 || e.Files[0].Text != currentText || len(e.Missing) != 0 {
			t.Errorf("%d files, missing %v", len(e.Files), e.Missing)
		}
		var text strings.Builder
		if err := e.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		goldenText(t, "evidence_"+strings.ToLower(id)+".txt", text.String())
	}
	s.Live = nil
	if e, _ := s.Evidence(Filter{}, "GPTBot"); len(e.Missing) != 1 || len(e.Files) != 0 {
		t.Errorf("missing are %v", e.Missing)
	}
}
