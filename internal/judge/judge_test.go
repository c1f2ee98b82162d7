package judge

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestClaim(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /all\nDisalow: /typo\n\nUser-agent: curl\nDisallow: /curl\n\nuseragent: python-requests\nDisallow: /py\n"))
	for _, tc := range []struct {
		name, userAgent, target string
		allowed, named, exempt  bool
	}{
		{"the * group judges a crawler", "GPTBot/1.2", "/all", false, false, false},
		{"a rule that is misspelt is for Google's crawlers", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "/typo", false, false, false},
		{"and for no other", "GPTBot/1.2", "/typo", true, false, false},
		{"the * group is not meant for a library", "Wget/1.21", "/all", true, false, true},
		{"nor is it where only some read that a group names it", "python-requests/2.32", "/all", true, true, false},
		{"which forbids it nothing", "python-requests/2.32", "/py", true, true, false},
		{"a group that names a library is", "curl/8.7.1", "/curl", false, true, false},
		{"and is its only one", "curl/8.7.1", "/all", true, true, false},
	} {
		client := uaident.Identify(tc.userAgent)
		who := GroupQuery{Names: client.AppendNames(nil), WildcardApplies: client.WildcardApplies(), LenientKeys: client.ParsesLeniently()}
		_, named, applies := who.Group(robots)
		var target policy.Target
		target.Set(tc.target, false)
		if allowed := who.Verdict(robots, &target).Allowed; allowed != tc.allowed || named != tc.named || applies == tc.exempt {
			t.Errorf("%s: allowed %t, named %t, applies %t", tc.name, allowed, named, applies)
		}
	}
}

// TestFalseClaim judges a client under a false name by the stricter of the group
// that the name chooses and the * group.
func TestFalseClaim(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /all\nAllow: /google\n\nUser-agent: Googlebot\nDisallow: /google\n\nUser-agent: AdsBot-Google\nDisallow: /ads\n"))
	for _, tc := range []struct {
		token, target, rule string
	}{
		{"Googlebot", "/all", "Disallow: /all"},
		{"Googlebot", "/google", "Disallow: /google"},
		{"Googlebot", "/", ""},
		{"AdsBot-Google", "/all", "Disallow: /all"},
		{"AdsBot-Google", "/ads", "Disallow: /ads"},
		{"Slackbot", "/all", "Disallow: /all"},
	} {
		who := GroupQuery{Names: []string{tc.token}, WildcardApplies: true, Spoofed: true}
		var target policy.Target
		target.Set(tc.target, false)
		verdict := who.Verdict(robots, &target)
		if verdict.Allowed != (tc.rule == "") || !verdict.Allowed && verdict.Rule.String() != tc.rule {
			t.Errorf("%s as %s: %+v, want %q", tc.target, tc.token, verdict, tc.rule)
		}
	}
}

func TestKnownName(t *testing.T) {
	for _, tc := range []struct{ userAgent, group, want string }{
		{"googlebot/2.1", "", "Googlebot"},
		{"googlebot/2.1", "GOOGLEBOT", "Googlebot"},
		{"Zorkly/2.0", "", ""},
		{"zorkly/2.0", "Zorkly", "Zorkly"},
		{"zorkly/2.0", "Zorkly/3", "Zorkly"},
		{"zorkly/2.0", "*", ""},
	} {
		if got := CrawlerName(uaident.Identify(tc.userAgent), tc.group); got != tc.want {
			t.Errorf("%s in %q is %q, want %q", tc.userAgent, tc.group, got, tc.want)
		}
	}
}

func TestIsACMEChallenge(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		want         bool
	}{
		{"GET", "/.well-known/acme-challenge/token", true},
		{"HEAD", "/.well-known/acme-challenge/token", true},
		{"", "/.well-known/acme-challenge/token", true},
		{"GET", "/.well-known/acme-challenge/token?x", true},
		{"GET", "/.well-known/acme-challenge/a-Z_9", true},
		{"GET", "/.well-known/acme-challenge/azAZ09", true},
		{"POST", "/.well-known/acme-challenge/token", false},
		{"GET", "/.well-known/acme-challenge/", false},
		{"GET", "/.well-known/acme-challenge/a/b", false},
		{"GET", "/.well-known/acme-challenge/a/", false},
		{"GET", "/.well-known/acme-challenge/%61", false},
		{"GET", "/.well-known/acme%2dchallenge/a", false},
		{"GET", "/%2ewell-known/acme-challenge/a", false},
		{"GET", "//.well-known/acme-challenge/token", false},
		{"GET", "//.well-known/x/../acme-challenge/token", false},
		{"GET", "/private/x/../../.well-known/acme-challenge/a", false},
		{"GET", "/./.well-known/acme-challenge/a", false},
		{"GET", "http://a.test/.well-known/acme-challenge/a", false},
		{"GET", `/.well-known/acme-challenge/..\..\private`, false},
		{"GET", "/.well-known/acme-challenge/a;b", false},
		{"GET", "/.well-known/acme-challenge/../../private", false},
		{"GET", "/.well-known/acme-challenge/..", false},
	} {
		if got := IsACMEChallenge(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %s: %t", tc.method, tc.path, got)
		}
	}
}

func TestIsReading(t *testing.T) {
	for status, want := range map[int]bool{200: true, 206: false, 301: false, 304: true, 403: false, 404: true, 410: true, 500: false} {
		if IsRobotsFetch("GET", status) != want || IsRobotsFetch("HEAD", status) {
			t.Errorf("status %d", status)
		}
	}
}

// BenchmarkJudgePreferences judges a crawler's request by a file that states nothing
// about use, and by files that do.
func BenchmarkJudgePreferences(b *testing.B) {
	for _, bench := range []struct{ name, lines string }{
		{"none", ""},
		{"whole", "Content-Usage: train-ai=n, search=y\n"},
		{"paths", "Content-Usage: train-ai=n\nContent-Usage: /blog/ train-ai=y\nContent-Usage: /press/ train-ai=y\n"},
		{"group", "User-agent: __usage_ai-training\nDisallow: /\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			robots := policy.Parse([]byte("User-agent: *\nDisallow: /private/\nDisallow: /admin/\n" + bench.lines))
			q := Request{Client: uaident.Identify("GPTBot/1.2"), Method: "GET", Target: "/blog/1234/blue-shoes.html?page=2"}
			var s Settings
			var scratch Scratch
			var r Result
			b.ReportAllocs()
			for b.Loop() {
				s.Judge(&q, Rules{Robots: robots}, &scratch, &r)
			}
		})
	}
}

// TestPreferencesOfResult checks that a preference applies only to a URL that the crawler may fetch,
// and only to crawlers of the group.
func TestPreferencesOfResult(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nContent-Usage: /page train-ai=n\nDisallow: /private/\n" +
		"User-agent: __usage_ai-training\nDisallow: /a\nUser-agent: Google-Extended\nDisallow: /b\nDisallow: /private/\n"))
	for _, tc := range []struct{ userAgent, target, want string }{
		{"GPTBot/1.2", "/page", "train-ai=n"},
		{"GPTBot/1.2", "/private/page", ""},
		{"GPTBot/1.2", "/robots.txt", ""},
		{"curl/8.7", "/page", ""},
		{"GPTBot/1.2", "/a", "train-ai=n"},
		{"GPTBot/1.2", "/b", ""},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "/b", "train-ai=n"},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "/private/b", ""},
	} {
		q := Request{Client: uaident.Identify(tc.userAgent), Target: tc.target}
		var scratch Scratch
		var r Result
		new(Settings).Judge(&q, Rules{Robots: robots}, &scratch, &r)
		if got := r.Preferences.String(); got != tc.want {
			t.Errorf("%s for %s: %q is stated, want %q", tc.target, tc.userAgent, got, tc.want)
		}
	}
}
