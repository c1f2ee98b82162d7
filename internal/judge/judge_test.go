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
		who := Subject{Chain: client.AppendChain(nil), Wildcard: client.Wildcard(), Forgiving: client.Forgiving()}
		_, named, exempt := who.Group(robots)
		var target policy.Target
		target.Set(tc.target, false)
		if allowed := who.Verdict(robots, &target).Allowed; allowed != tc.allowed || named != tc.named || exempt != tc.exempt {
			t.Errorf("%s: allowed %t, named %t, exempt %t", tc.name, allowed, named, exempt)
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
		who := Subject{Chain: []string{tc.token}, Wildcard: true, False: true}
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
		if got := KnownName(uaident.Identify(tc.userAgent), tc.group); got != tc.want {
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
		{"HEAD", "//.well-known/x/../acme-challenge/token", true},
		{"POST", "/.well-known/acme-challenge/token", false},
		{"GET", "/.well-known/acme-challenge/", false},
		{"GET", "/.well-known/acme-challenge/a/b", false},
		{"GET", "/.well-known/acme-challenge/../../private", false},
	} {
		if got := IsACMEChallenge(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %s: %t", tc.method, tc.path, got)
		}
	}
}

func TestIsReading(t *testing.T) {
	for status, want := range map[int]bool{200: true, 206: false, 301: false, 304: true, 403: false, 404: true, 410: true, 500: false} {
		if IsReading("GET", status) != want || IsReading("HEAD", status) {
			t.Errorf("status %d", status)
		}
	}
}
