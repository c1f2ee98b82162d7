package guard

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const mixedRobots = `User-agent: *
Disallow: /private/

User-agent: Googlebot
Disallow: /google/

User-agent: AdsBot-Google
Disallow: /ads/

User-agent: curl
User-agent: facebookexternalhit
User-agent: acmescraper
Disallow: /named/
`

const (
	uaFirefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	uaChrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	uaPreview = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
)

func TestJudgement(t *testing.T) {
	for _, tc := range []struct {
		name, userAgent, target string
		verdict                 judge.Verdict
		action                  judge.Action
		rule                    string
	}{
		{"a crawler under *", "bingbot/2.0", "/private/x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
		{"elsewhere", "bingbot/2.0", "/public/x", judge.Allowed, judge.NoAction, ""},
		{"a crawler with a group of its own is not judged by *", "Googlebot/2.1", "/private/x", judge.Allowed, judge.NoAction, ""},
		{"but by its group", "Googlebot/2.1", "/google/x", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
		{"a documented fallback", "Googlebot-Image/1.0", "/google/x", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
		{"a crawler that is documented to ignore *", "Mediapartners-Google", "/private/x", judge.Exempt, judge.NoAction, ""},
		{"unless it is named", "AdsBot-Google (+http://www.google.com/adsbot.html)", "/ads/x", judge.Disallowed, judge.Blocked, "Disallow: /ads/"},
		{"a library is not judged by *", "Wget/1.21", "/private/x", judge.Exempt, judge.NoAction, ""},
		{"unless it is named", "curl/8.7.1", "/named/x", judge.Disallowed, judge.Blocked, "Disallow: /named/"},
		{"a link preview is not judged by *", "Twitterbot/1.0", "/private/x", judge.Exempt, judge.NoAction, ""},
		{"unless it is named", uaPreview, "/named/x", judge.Disallowed, judge.Blocked, "Disallow: /named/"},
		{"a name that only this policy knows", "acmescraper/0.1", "/named/x", judge.Disallowed, judge.Blocked, "Disallow: /named/"},
		{"robots.txt itself", "bingbot/2.0", "/robots.txt?x", judge.Allowed, judge.NoAction, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
			g.Judge(requestBy("bingbot/2.0", "/")) // fetches the file
			j := g.Judge(requestBy(tc.userAgent, tc.target))
			if j == nil {
				t.Fatal("not judged")
			}
			if j.Verdict != tc.verdict || j.Action != tc.action || j.RobotsVerdict.Rule.String() != tc.rule {
				t.Errorf("%s, %s, %q; want %s, %s, %q", j.Verdict, j.Action, j.RobotsVerdict.Rule, tc.verdict, tc.action, tc.rule)
			}
		})
	}
}

func TestNotJudged(t *testing.T) {
	for _, tc := range []struct {
		name string
		r    *http.Request
	}{
		{"a browser", requestBy(uaFirefox, "/private/x")},
		{"a browser with the name of a group within a word", requestBy(uaFirefox+" xacmescraperx/1.0", "/named/x")},
		{"no User-Agent", requestBy("", "/private/x")},
		{"CONNECT", &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: "example.com:443"}, RequestURI: "example.com:443", Host: "example.com:443", Header: http.Header{"User-Agent": {"bingbot/2.0"}}}},
		{"OPTIONS *", &http.Request{Method: http.MethodOptions, URL: &url.URL{Path: "*"}, RequestURI: "*", Host: "example.com", Header: http.Header{"User-Agent": {"bingbot/2.0"}}}},
		{"a certificate validator", requestBy("bingbot/2.0", "/.well-known/acme-challenge/token")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Enforce: true}, serving(mixedRobots+"\nUser-agent: bingbot\nDisallow: /\n"))
			g.Judge(requestBy("bingbot/2.0", "/"))
			if j := g.Judge(tc.r); j != nil {
				t.Errorf("judged: %s by %q", j.Verdict, j.RobotsVerdict.Rule)
			}
		})
	}
}

func TestNoACMEChallenge(t *testing.T) {
	for _, target := range []string{
		"/.well-known/acme-challenge/",
		"/.well-known/acme-challenge/a/b",
		"/.well-known/acme-challenge/a%2Fb",
		"/.well-known/acme-challenge/../../private/x",
		"/.well-known/acme-challenge/..%2f..%2fprivate",
		"/x/.well-known/acme-challenge/token",
	} {
		g := testGuard(t, options{Enforce: true}, serving("User-agent: bingbot\nDisallow: /\n"))
		if j := g.Judge(requestBy("bingbot/2.0", target)); j == nil || j.Verdict != judge.Disallowed {
			t.Errorf("%s passes as a challenge", target)
		}
	}
	post := requestBy("bingbot/2.0", "/.well-known/acme-challenge/token")
	post.Method = http.MethodPost
	isChallenge := func(r *http.Request) bool { return site.IsACMEChallenge(site.OriginalRequest(r)) }
	if !isChallenge(requestBy("x", "/.well-known/acme-challenge/token")) || isChallenge(post) {
		t.Error("GET asks for a challenge, POST does not")
	}
}

func TestConfiguredExceptions(t *testing.T) {
	for _, tc := range []struct {
		name      string
		handler   options
		userAgent string
		verdict   judge.Verdict
		action    judge.Action
	}{
		{"monitor logs", options{}, "bingbot/2.0", judge.Disallowed, judge.Logged},
		{"exempt by token", options{Enforce: true, Exempt: []string{"BINGBOT"}}, "bingbot/2.0", judge.Exempt, judge.NoAction},
		{"exempt by class", options{Enforce: true, Exempt: []string{"search"}}, "bingbot/2.0", judge.Exempt, judge.NoAction},
		{"exempt by another token", options{Enforce: true, Exempt: []string{"Googlebot"}}, "bingbot/2.0", judge.Disallowed, judge.Blocked},
		{"only_log by token", options{Enforce: true, OnlyLog: []string{"bingbot"}}, "bingbot/2.0", judge.Disallowed, judge.Logged},
		{"only_log by class", options{Enforce: true, OnlyLog: []string{"search"}}, "bingbot/2.0", judge.Disallowed, judge.Logged},
		{"wildcard takes a class in", options{Enforce: true, Wildcard: []string{"library"}}, "curl/8.7.1", judge.Disallowed, judge.Blocked},
		{"wildcard leaves a class out", options{Enforce: true, Wildcard: []string{"library"}}, "bingbot/2.0", judge.Exempt, judge.NoAction},
		{"a documented exemption wins over wildcard", options{Enforce: true, Wildcard: []string{"ads"}}, "Mediapartners-Google", judge.Exempt, judge.NoAction},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, tc.handler, serving("User-agent: *\nDisallow: /\n"))
			g.Judge(requestBy("bingbot/2.0", "/"))
			<-fetchDone(g, requestBy("bingbot/2.0", "/"))
			j := g.Judge(requestBy(tc.userAgent, "/x"))
			if j.Verdict != tc.verdict || j.Action != tc.action {
				t.Errorf("%s, %s; want %s, %s", j.Verdict, j.Action, tc.verdict, tc.action)
			}
		})
	}
}

func TestClosedWhileUnreachable(t *testing.T) {
	s := &scriptedSource{answer: func(context.Context) policy.FetchResult {
		return policy.FetchResult{Status: http.StatusInternalServerError}
	}}
	for _, tc := range []struct {
		name        string
		unreachable policy.Fallback
		userAgent   string
		closed      bool
	}{
		{"last_good passes", policy.LastGood, "bingbot/2.0", false},
		{"allow passes", policy.AllowAll, "bingbot/2.0", false},
		{"disallow closes", policy.DisallowAll, "bingbot/2.0", true},
		{"disallow_google closes", policy.DisallowLikeGoogle, "bingbot/2.0", true},
		{"but not to whom * does not judge", policy.DisallowAll, "curl/8.7.1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Enforce: true, Unreachable: tc.unreachable}, s)
			r := requestBy(tc.userAgent, "/x")
			<-fetchDone(g, r)
			j := g.Judge(r)
			if j.Verdict != judge.Unknown || j.Reason == judge.ReasonSiteClosed != tc.closed || (j.Action == judge.Blocked) != tc.closed {
				t.Errorf("%s, %s, closed = %t; want unknown, closed = %t", j.Verdict, j.Action, j.Reason == judge.ReasonSiteClosed, tc.closed)
			}
		})
	}
}

func TestSitesShareAConfiguredSource(t *testing.T) {
	s := serving("User-agent: *\nDisallow: /\n")
	g := testGuard(t, options{Enforce: true, SourceKey: "/srv/robots.txt"}, s)
	for _, host := range []string{"a.example", "b.example"} {
		r := requestBy("bingbot/2.0", "/x")
		r.Host = host
		if j := g.Judge(r); j.Verdict != judge.Disallowed {
			t.Errorf("%s: %s", host, j.Verdict)
		}
	}
	if got := s.reads.Load(); got != 1 {
		t.Errorf("the file was read %d times, want 1", got)
	}
}

func TestLabelOf(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots+"\nUser-agent: Yandex\nUser-agent: ColdBot/2.1\nDisallow: /x\n"))
	// The first request finds no policy when it arrives, but it is counted like all
	// later ones.
	for _, when := range []string{"on a cold cache", "then"} {
		j := g.Judge(requestBy("COLDBOT/9.9 (+https://cold.example/bot)", "/x"))
		if got := g.metricsLabel(j); j.Verdict != judge.Disallowed || got != "ColdBot/2.1" {
			t.Errorf("%s: %s, label %q, want the policy's spelling", when, j.Verdict, got)
		}
	}
	for userAgent, want := range map[string]string{
		"BINGBOT/2.0":        "bingbot",
		"ACMEscraper/0.1":    "acmescraper",
		"InventedBot/1.0":    judge.OtherName,
		"YandexInvented/1.0": judge.OtherName, // the group of Yandex applies to it, but clients can invent such names
	} {
		j := g.Judge(requestBy(userAgent, "/"))
		if got := g.metricsLabel(j); got != want {
			t.Errorf("%s: label %q, want %q", userAgent, got, want)
		}
	}
}
