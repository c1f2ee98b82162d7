package report

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// named is a day at a wildcard site: false Googlebots, the real one, and two
// crawlers that nobody knows.
func named() *Source {
	l := ledger.New(func() time.Time { return now })
	at := now.Add(-time.Hour)
	ask := func(times int, token, name, host string, identity verify.State, verdict judge.Verdict) {
		for range times {
			q := &ledger.Request{
				At: at, Site: "*.example.net", Host: host, Token: token, Name: name, Class: uaident.GenericCrawler, Identity: identity, Verdict: verdict,
				Method: "GET", Target: "/private/", UserAgent: name + "/1.0", Network: netip.MustParsePrefix("192.0.2.0/24"),
			}
			if verdict == judge.Disallowed {
				q.Rule = ledger.Rule{Version: ledger.Version{1}, Line: 2, Text: "Disallow: /private/", Group: "*"}
			}
			if token == "Googlebot" {
				q.Class = uaident.Search
			}
			l.Record(q)
			l.Snapshot()
			at = at.Add(time.Second)
		}
	}
	ask(64, judge.SpoofedName, "Googlebot", "a.example.net", verify.Spoofed, judge.Disallowed)
	ask(2, judge.SpoofedName, "bingbot", "b.example.net", verify.Spoofed, judge.Allowed)
	ask(5, "Googlebot", "", "a.example.net", verify.Verified, judge.Allowed)
	ask(9, ledger.Other, "ExampleMonitor", "b.example.net", verify.Claimed, judge.Disallowed)
	ask(1, ledger.Other, "NewBot\u202e", "a.example.net", verify.Claimed, judge.Disallowed)
	return &Source{Ledger: l.Snapshot(), Now: now}
}

// TestNames shows clients that share a token by what they call themselves.
func TestNames(t *testing.T) {
	s := named()
	sum := s.Summary(Filter{})
	text := func(names []ClientNameCount) (all string) {
		for _, n := range names {
			all += fmt.Sprintf("%s %d %d, ", n.Name, n.Count, n.Disallowed)
		}
		return all
	}
	for id, want := range map[string]string{"_spoofed:crawler": "Googlebot 64 64, bingbot 2 0, ", "_other:crawler": "ExampleMonitor 9 9, NewBot\u202e 1 1, "} {
		d, _ := s.Crawler(Filter{}, id)
		if got := text(d.Crawler.Names); got != want {
			t.Errorf("names of %s: %s, want %s", id, got, want)
		}
	}
	if _, ok := s.Crawler(Filter{Identity: "verified"}, "_spoofed:crawler"); ok {
		t.Error("the verified crawlers include spoofed clients")
	}
	if hosts := sum.SitesNow[0].Hosts; len(hosts) != 2 || hosts[0].Host != "a.example.net" || hosts[0].Count != 70 {
		t.Errorf("hosts: %v", hosts)
	}
	google, _ := s.Crawler(Filter{}, "Googlebot")
	if google.Crawler.SpoofedRequests != 64 || google.Crawler.Requests != 5 || google.Crawler.Names != nil {
		t.Errorf("Googlebot has %d requests, and %d impostors, names %v", google.Crawler.Requests, google.Crawler.SpoofedRequests, google.Crawler.Names)
	}
	others, _ := s.Crawler(Filter{}, "_other:crawler")
	if len(others.Paths) != 2 || others.Paths[0].Host != "b.example.net" || others.Paths[0].Name != "ExampleMonitor" || others.Paths[1].Host != "a.example.net" {
		t.Errorf("equal paths of two hosts: %+v", others.Paths)
	}
}

// TestEvidenceOfShared names who is meant, and the host that was asked.
func TestEvidenceOfShared(t *testing.T) {
	for id, want := range map[string][]string{
		"_spoofed:crawler": {
			"Requests that robots.txt disallows, by clients with false names, which call themselves Googlebot (64 times), bingbot (2 times)\n",
			"Names:       Googlebot (64 times), bingbot (2 times)\n", "GET a.example.net/private/  ", "identity spoofed, as Googlebot\n",
		},
		"_other:crawler": {
			"Requests that robots.txt disallows, by clients that call themselves ExampleMonitor (9 times), NewBot? (once)\n",
			"\n  b.example.net/private/  line 2",
		},
	} {
		e, ok := named().Evidence(Filter{}, id)
		var got bytes.Buffer
		if err := e.WriteText(&got); err != nil || !ok {
			t.Fatal(ok, err)
		}
		for _, part := range want {
			if !strings.Contains(got.String(), part) {
				t.Errorf("%s: no %q in\n%s", id, part, got.String())
			}
		}
		if strings.Contains(got.String(), "_spoofed") || strings.Contains(got.String(), "_other") || strings.Contains(got.String(), "*.example.net/") {
			t.Errorf("%s: words of the ledger in\n%s", id, got.String())
		}
	}
}

// BenchmarkNames lists crawlers where clients have invented as many names as are
// kept.
func BenchmarkNames(b *testing.B) {
	l := ledger.New(func() time.Time { return now })
	for site := range 500 {
		for i := range 64 {
			q := ledger.Request{At: now.Add(-time.Hour), Site: fmt.Sprintf("s%d.example", site), Token: ledger.Other, Name: fmt.Sprintf("Invented%03d-%02d", site, i),
				Class: uaident.GenericCrawler, Identity: verify.Claimed, Verdict: judge.Allowed, Method: "GET"}
			l.Record(&q)
			q.Token, q.Identity = judge.SpoofedName, verify.Spoofed
			l.Record(&q)
		}
	}
	s := &Source{Ledger: l.Snapshot(), Now: now}
	for b.Loop() {
		if list := s.Crawlers(Filter{}, 0, 1000); len(list.Crawlers) != 2 || len(list.Crawlers[0].Names) != maxTopNames {
			b.Fatalf("%d crawlers, %d names", len(list.Crawlers), len(list.Crawlers[0].Names))
		}
	}
}
